import { changeCredential, dropCredential, saveCredential, savedCredentials } from "#src/cli/login/credentials.ts"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
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
})
