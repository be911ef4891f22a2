import { withLock } from "#src/cli/login/lock.ts"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { full, long } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"

const newLock = () => {
  const folder = temporaryDirectory("lock")
  mkdirSync(folder, { recursive: true })
  return join(folder, "lock")
}
const files = (lock: string) => readdirSync(join(lock, ".."))
const dead = () => `${hostname()} ${spawnSync("true").pid} ${randomUUID()}`

/** A disk whose steps take their time, so that those of several holders come in every order. */
const slow = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (files) => {
    const late =
      <Args extends ReadonlyArray<unknown>, A, E>(step: (...args: Args) => Effect.Effect<A, E>) => (...args: Args) =>
        Effect.zipRight(Effect.suspend(() => Effect.sleep(Math.random() * 4)), step(...args))
    const { link, readFileString, remove, rename, stat, writeFileString } = files
    return {
      ...files,
      link: late(link),
      readFileString: late(readFileString),
      remove: late(remove),
      rename: late(rename),
      stat: late(stat),
      writeFileString: late(writeFileString)
    }
  })
).pipe(Layer.provideMerge(NodeContext.layer))

describe("the lock of a login", () => {
  it.live("has one holder, however many find the one before dead at the same moment", () =>
    Effect.gen(function*() {
      const lock = newLock()
      const corpse = dead()
      writeFileSync(lock, corpse)
      let [inside, held] = [0, 0]
      const visit = withLock(lock)(Effect.gen(function*() {
        assert.strictEqual(++inside, 1)
        held++
        yield* Effect.sleep("1 millis")
        // As if this one were killed: its lock stays, and names a process that is gone.
        if (held <= 12) writeFileSync(lock, corpse.replace(/\S+$/, randomUUID()))
        inside--
      }))
      yield* Effect.all(Array.from({ length: 12 }, () => visit), { concurrency: "unbounded" })
      assert.strictEqual(held, 12)
      yield* visit
      assert.deepStrictEqual(files(lock), [])
    }).pipe(Effect.provide(slow)))

  it.live("is not taken from who has it by one that has seen the one before dead, and goes on late", () =>
    Effect.gen(function*() {
      const lock = newLock()
      writeFileSync(lock, dead())
      let inside = 0
      const visit = withLock(lock)(Effect.gen(function*() {
        assert.strictEqual(++inside, 1)
        yield* Effect.sleep("400 millis")
        inside--
      }))
      const disk = yield* FileSystem.FileSystem
      /** Waits before each step that another's lock would not survive. */
      const late: FileSystem.FileSystem = {
        ...disk,
        remove: (path, options) => Effect.delay(disk.remove(path, options), path === lock ? "200 millis" : 0),
        rename: (from, to) => Effect.delay(disk.rename(from, to), to === lock ? "200 millis" : 0)
      }
      yield* Effect.all([Effect.provideService(visit, FileSystem.FileSystem, late), visit], { concurrency: 2 })
      assert.deepStrictEqual(files(lock), [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live("is taken over also from who has died while taking it over", () =>
    Effect.gen(function*() {
      const lock = newLock()
      const [first, second] = [dead(), dead()]
      writeFileSync(lock, first)
      writeFileSync(`${lock}.${first.split(" ")[2]}`, second)
      yield* withLock(lock)(Effect.sync(() => assert.include(readFileSync(lock, "utf8"), ` ${process.pid} `)))
      assert.deepStrictEqual(files(lock), [])
    }).pipe(Effect.provide(NodeContext.layer)))

  // Each adds one to a number under the lock, over and over, and some are killed there.
  it.skipIf(!full)(long("has one holder of many processes, whoever of them is killed"), async () => {
    const lock = newLock()
    const number = `${lock}-number`
    const program = join(import.meta.dirname, "lock-holder.program.ts")
    writeFileSync(number, "0")
    const ends = await Promise.allSettled(
      Array.from(
        { length: 6 },
        (_, at) =>
          promisify(execFile)(process.execPath, [
            "--import",
            "tsx",
            program,
            lock,
            number,
            at % 2 === 0 ? "die" : "live"
          ])
      )
    )
    assert.strictEqual(ends.filter(({ status }) => status === "fulfilled").length, 3)
    assert.strictEqual(readFileSync(number, "utf8"), "30")
  }, 120_000)
})
