import { changeCredential, dropCredential, saveCredential, savedCredentials } from "#src/cli/login/credentials.ts"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SystemError } from "@effect/platform/Error"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { temporaryDirectory } from "../../support/Settings.ts"

/** An empty configuration folder, and what is done in it. */
const inFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E, NodeContext.NodeContext>) =>
  Effect.suspend(() => {
    const folder = temporaryDirectory("credentials")
    const config = Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["XDG_CONFIG_HOME", folder]])))
    return use(join(folder, "berth")).pipe(Effect.provide(Layer.merge(NodeContext.layer, config)))
  })

/** A small disk of one's own needs root. */
const noMount = process.getuid?.() === 0 ? undefined : "not root"

const urls = Array.from({ length: 20 }, (_, index) => `http://host-${index}.example`)

describe("the file of credentials", () => {
  it.live("loses nothing where many change it at once, and is the user's alone", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        yield* Effect.forEach(urls, (url) => saveCredential(url, `svc_sess_${url}`), { concurrency: "unbounded" })
        assert.deepStrictEqual(Object.keys(yield* savedCredentials).toSorted(), urls.toSorted())
        yield* Effect.forEach(urls.slice(1), dropCredential, { concurrency: "unbounded" })
        assert.deepStrictEqual(Object.keys(yield* savedCredentials), urls.slice(0, 1))
        assert.deepStrictEqual(readdirSync(folder), ["credentials.json"])
        assert.strictEqual(statSync(join(folder, "credentials.json")).mode & 0o777, 0o600)
      })
    ))

  it.live("is changed by one at a time, also when the change fails", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        let inside = 0
        const change = changeCredential("http://a.example", () =>
          Effect.gen(function*() {
            assert.strictEqual(++inside, 1)
            yield* Effect.sleep("5 millis")
            inside--
            return yield* Effect.fail("no")
          }))
        const ends = yield* Effect.all(Array.from({ length: 5 }, () => Effect.either(change)), { concurrency: 5 })
        assert.deepStrictEqual(ends.map(({ _tag }) => _tag), Array.from({ length: 5 }, () => "Left"))
        assert.isFalse(existsSync(join(folder, "credentials.json.lock")))
      })
    ))

  it.live.each(["a process that has died", "one that holds it for over a minute"])(
    "is not kept by %s",
    (who) =>
      inFolder((folder) =>
        Effect.gen(function*() {
          const lock = join(folder, "credentials.json.lock")
          const dead = spawnSync("true").pid
          mkdirSync(folder)
          writeFileSync(lock, who.includes("died") ? `${hostname()} ${dead} x` : `${hostname()} ${process.pid} x`)
          const before = Date.now() / 1000 - 61
          if (!who.includes("died")) utimesSync(lock, before, before)
          yield* saveCredential("http://a.example", "svc_sess_a")
          assert.isFalse(existsSync(lock))
        })
      )
  )

  it.live.each(["{", "[]", `{"http://a.example":"svc_sess_a","http://b.example":{"of":"a later version"}}`])(
    "is not written anew when it holds %s, which nobody could read any more",
    (text) =>
      inFolder((folder) =>
        Effect.gen(function*() {
          const file = join(folder, "credentials.json")
          mkdirSync(folder)
          writeFileSync(file, text)
          const { message } = yield* Effect.flip(saveCredential("http://c.example", "svc_sess_c"))
          assert.strictEqual(message, `${file} can't be read: it is not as berth writes it. Mend or remove it`)
          assert.strictEqual(readFileSync(file, "utf8"), text)
          assert.deepStrictEqual(readdirSync(folder), ["credentials.json"])
        })
      )
  )

  it.live("has its room on the disk before a server is asked, whose answer can't be had again", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* saveCredential("http://a.example", "svc_sess_a")
        const full = new SystemError({ reason: "Unknown", module: "FileSystem", method: "open", description: "ENOSPC" })
        let isFull = true
        let asked = 0
        const disk: FileSystem.FileSystem = {
          ...files,
          open: (path, options) => isFull ? Effect.zipRight(files.open(path, options), full) : files.open(path, options)
        }
        const renewal = changeCredential("http://a.example", () =>
          Effect.sync(() => {
            asked++
            isFull = true
            return ["svc_sess_b".repeat(1000), undefined] as const
          })).pipe(Effect.provideService(FileSystem.FileSystem, disk))
        assert.include((yield* Effect.flip(renewal)).message, "can't be written: ")
        assert.deepStrictEqual([asked, readdirSync(folder)], [0, ["credentials.json"]])
        assert.deepStrictEqual(yield* savedCredentials, { "http://a.example": "svc_sess_a" })
        isFull = false
        yield* renewal
        assert.deepStrictEqual([asked, readdirSync(folder)], [1, ["credentials.json"]])
        assert.deepStrictEqual(yield* savedCredentials, { "http://a.example": "svc_sess_b".repeat(1000) })
      })
    ))

  it.live.skipIf(noMount !== undefined)(
    "keeps what a server gave on a disk that was filled meanwhile",
    () =>
      inFolder((folder) =>
        Effect.gen(function*() {
          mkdirSync(folder)
          execFileSync("mount", ["-t", "tmpfs", "-o", "size=96k", "tmpfs", folder])
          yield* Effect.addFinalizer(() => Effect.sync(() => execFileSync("umount", [folder])))
          yield* saveCredential("http://a.example", "svc_sess_a")
          const fill = () => {
            const fd = openSync(join(folder, "filled"), "w")
            try {
              for (;;) writeSync(fd, Buffer.alloc(4096))
            } catch {
              closeSync(fd)
            }
          }
          const next = "svc_sess_b".repeat(500)
          yield* changeCredential("http://a.example", () => Effect.sync(() => (fill(), [next, undefined] as const)))
          assert.deepStrictEqual(yield* savedCredentials, { "http://a.example": next })
          // Now there is no room before, and nothing is asked.
          let asked = 0
          const again = changeCredential(
            "http://a.example",
            () => Effect.sync(() => (asked++, [undefined, 1] as const))
          )
          const file = join(folder, "credentials.json")
          const refused = yield* Effect.flip(again)
          assert.match(
            refused.message,
            new RegExp(`^The disk is full: ${file}(\\.lock)? can't be written\\. Make room`)
          )
          assert.deepStrictEqual([refused._tag === "CliFailure" && refused.code, asked], [2, 0])
          // What is forgotten needs no room, and the rest stays.
          assert.deepStrictEqual(yield* dropCredential("http://b.example"), Option.none())
          assert.deepStrictEqual(yield* dropCredential("http://a.example"), Option.some(next))
          assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), {})
        }).pipe(Effect.scoped)
      )
  )

  it.live("is not kept by a lock that a full disk has left empty", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const full = new SystemError({
          reason: "Unknown",
          module: "FileSystem",
          method: "writeFile",
          description: "ENOSPC"
        })
        const onFullDisk: FileSystem.FileSystem = {
          ...files,
          writeFileString: (path, _, options) => Effect.zipRight(files.writeFileString(path, "", options), full)
        }
        const saving = Effect.provideService(saveCredential("http://a.example", "x"), FileSystem.FileSystem, onFullDisk)
        assert.include((yield* Effect.flip(saving)).message, "ENOSPC")
        assert.deepStrictEqual(readdirSync(folder), [])
        yield* saveCredential("http://a.example", "svc_sess_a")
      })
    ))
})
