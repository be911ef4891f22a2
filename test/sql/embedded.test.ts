import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describeLong, full, long } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const settings = { fsync: "off" }
const start = (home: string, exclusive = true) => embedded(home, { exclusive, settings })
/** Open to the server's own user, as a home usually is. */
const openHome = () => {
  const home = temporaryDirectory()
  fs.chmodSync(home, 0o755)
  return home
}
const fill = (path: string) => {
  const file = fs.openSync(path, "a")
  try {
    for (;;) fs.writeSync(file, Buffer.alloc(4096))
  } catch {
    fs.closeSync(file)
  }
}
const pidOf = (home: string) => Number.parseInt(fs.readFileSync(join(home, "postgres/data/postmaster.pid"), "utf8"), 10)
const runs = (home: string) => fs.existsSync(join(home, "postgres/data/postmaster.pid"))
const ask = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(statement))

/** Another process that serves the home, killed without warning when the effect ends. */
const killedWhileServing = (home: string) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, ["--import", "tsx", "test/sql/holder.program.ts", home], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    for await (const line of createInterface(child.stdout)) if (line === "serving") break
    child.kill("SIGKILL")
    await once(child, "exit")
    return pidOf(home)
  })

describe("the embedded database", () => {
  it.scopedLive("is closed to other users: no TCP port, a private socket, private files", () =>
    Effect.gen(function*() {
      const home = openHome()
      const address = yield* start(home)
      const [row] = yield* Effect.provide(ask("SHOW listen_addresses"), clientLayer(address))
      assert.deepStrictEqual(row, { listenAddresses: "" })
      for (const path of [address.host, join(home, "postgres/data")]) {
        assert.strictEqual(fs.statSync(path).mode & 0o777, 0o700)
      }
      assert.strictEqual(fs.statSync(join(home, "postgres/log")).mode & 0o077, 0)
    }))

  it.live.skipIf(process.getuid?.() !== 0)(
    "says at once that the disk is full, also where its own last words did not fit there",
    () =>
      Effect.gen(function*() {
        const disk = openHome()
        const log = join(disk, "home/postgres/log")
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=100m,mode=755", "tmpfs", disk])
        yield* Effect.addFinalizer(() => Effect.sync(() => execFileSync("umount", ["-l", disk])))
        yield* Effect.scoped(start(join(disk, "home")))
        // From whole lines to none: a file grows by pages of 4096 bytes, and only the last one has room.
        for (const room of [2000, 60, 0]) {
          fs.writeFileSync(log, "\n".repeat(4096 - room))
          fill(join(disk, "fill"))
          const began = Date.now()
          const { message } = yield* Effect.flip(Effect.scoped(start(join(disk, "home"))))
          assert.include(message, `${join(disk, "home")} cannot be used by the embedded PostgreSQL: its disk is full`)
          assert.isBelow(Date.now() - began, 5_000)
        }
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!full)(
    long("keeps its data over a stop and a start, and is stopped with its scope"),
    () =>
      Effect.gen(function*() {
        const home = openHome()
        const use = (statement: string) =>
          Effect.scoped(Effect.flatMap(start(home), (address) => Effect.provide(ask(statement), clientLayer(address))))
        yield* use("CREATE TABLE kept (word text)")
        assert.isFalse(runs(home))
        yield* use("INSERT INTO kept VALUES ('ä')")
        assert.deepStrictEqual(yield* use("SELECT * FROM kept WHERE upper(word) = 'Ä'"), [{ word: "ä" }])
        assert.isFalse(runs(home))
      })
  )

  it.scopedLive.skipIf(!full)(
    long("refuses a second process that serves the same home, with a sentence that names it"),
    () =>
      Effect.gen(function*() {
        const home = openHome()
        yield* start(home)
        const error = yield* Effect.flip(Effect.scoped(start(home)))
        assert.strictEqual(error._tag, "DatabaseError")
        assert.include(error.message, `process ${process.pid}`)
        assert.include(error.message, home)
        assert.include(error.message, "BERTH_HOME")
        assert.isTrue(runs(home), "the one that was refused leaves the server alone")
      })
  )

  it.live.skipIf(!full)(
    long("serves a command beside the serving process, and stops with the last of them"),
    () =>
      Effect.gen(function*() {
        const home = openHome()
        yield* Effect.scoped(Effect.gen(function*() {
          yield* start(home, false)
          yield* Effect.scoped(start(home))
          assert.isTrue(runs(home))
        }))
        assert.isFalse(runs(home))
      })
  )
})

describeLong("the embedded database, when things go wrong", () => {
  it.live("is made and started once when several want it at once", () =>
    Effect.gen(function*() {
      const home = openHome()
      const one = Effect.scoped(
        Effect.flatMap(start(home, false), (address) => Effect.provide(ask("SELECT 1 AS one"), clientLayer(address)))
      )
      const rows = yield* Effect.all([one, one, one], { concurrency: "unbounded" })
      for (const row of rows) assert.deepStrictEqual(row, [{ one: 1 }])
      assert.deepStrictEqual(fs.readdirSync(join(home, "postgres")).sort(), ["data", "log", "socket"])
      assert.isFalse(runs(home))
    }))

  it.live("is adopted when it outlived the process that started it", () =>
    Effect.gen(function*() {
      const home = openHome()
      const orphan = yield* killedWhileServing(home)
      yield* Effect.scoped(Effect.andThen(start(home), () => assert.strictEqual(pidOf(home), orphan)))
      assert.isFalse(runs(home), "and stopped in the end")
    }))

  it.live("starts after a crash of the machine, though the number in its stale file is another program's", () =>
    Effect.gen(function*() {
      const home = openHome()
      const orphan = yield* killedWhileServing(home)
      const file = join(home, "postgres/data/postmaster.pid")
      const stale = fs.readFileSync(file, "utf8")
      process.kill(orphan, "SIGKILL")
      yield* Effect.sleep("200 millis")
      fs.writeFileSync(file, stale.replace(/^\d+/, String(process.pid)))
      yield* Effect.scoped(Effect.andThen(start(home), () => assert.notStrictEqual(pidOf(home), process.pid)))
    }))

  it.scopedLive("comes back when it dies, and so does the pool on it", () =>
    Effect.gen(function*() {
      const home = openHome()
      const address = yield* start(home)
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* ask("SELECT 1 AS one"), [{ one: 1 }])
        process.kill(pidOf(home), "SIGKILL")
        const rows = yield* Effect.retry(ask("SELECT 2 AS two"), {
          schedule: Schedule.spaced("100 millis"),
          times: 150
        })
        assert.deepStrictEqual(rows, [{ two: 2 }])
      }).pipe(Effect.provide(clientLayer(address)))
    }))

  it.live("says what its log says when it can't start", () =>
    Effect.gen(function*() {
      const home = openHome()
      yield* Effect.scoped(start(home))
      fs.appendFileSync(join(home, "postgres/data/postgresql.conf"), "\nshared_buffers = 'nonsense'\n")
      const error = yield* Effect.flip(Effect.scoped(start(home)))
      assert.match(error.message, /won't start: .*(shared_buffers|configuration)/)
    }))

  it.live("of another major version is refused with a sentence", () =>
    Effect.gen(function*() {
      const home = openHome()
      yield* Effect.scoped(start(home))
      fs.writeFileSync(join(home, "postgres/data/PG_VERSION"), "17\n")
      const error = yield* Effect.flip(Effect.scoped(start(home)))
      assert.include(error.message, "PostgreSQL 17")
    }))

  it.scopedLive("has its socket elsewhere when the home's path is too long for one", () =>
    Effect.gen(function*() {
      const home = join(openHome(), "a".repeat(100))
      const address = yield* start(home)
      assert.isFalse(address.host.startsWith(home))
      assert.deepStrictEqual(yield* Effect.provide(ask("SELECT 1 AS one"), clientLayer(address)), [{ one: 1 }])
    }))

  it.scopedLive.skipIf(process.getuid?.() !== 0)(
    "runs below a directory that its user may not pass",
    () =>
      Effect.gen(function*() {
        const closed = temporaryDirectory()
        assert.strictEqual(fs.statSync(closed).mode & 0o777, 0o700)
        const address = yield* start(join(closed, "home"))
        assert.deepStrictEqual(yield* Effect.provide(ask("SELECT 1 AS one"), clientLayer(address)), [{ one: 1 }])
      })
  )
})
