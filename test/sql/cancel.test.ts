import { clientLayer } from "#sql/Client.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Redacted, Schedule } from "effect"
import { freshDatabaseUrl } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { DatabaseProxy } from "../support/proxy.ts"
import { holdLock, runSql } from "../support/sql.ts"

/** Waits on a lock that somebody holds: without a cancellation to the end of the test. */
const waiting = (url: string) =>
  Effect.promise(async () =>
    Number(
      (await runSql(
        url,
        `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ))[0]?.["count"]
    )
  )

const untilWaiting = (url: string, count: number) =>
  waiting(url).pipe(Effect.repeat({ until: (now) => now === count, schedule: Schedule.spaced("10 millis") }))

/** A lock that is held until the scope closes, or it is let go. */
const lock = (url: string, id: number) =>
  Effect.gen(function*() {
    const letGo = yield* Effect.promise(() => holdLock(url, "SELECT pg_advisory_xact_lock($1)", [id]))
    let isHeld = true
    const open = Effect.promise(async () => {
      if (isHeld) await letGo()
      isHeld = false
    })
    yield* Effect.addFinalizer(() => open)
    return open
  })

const wants = (sql: SqlClient.SqlClient, id: number) => sql`SELECT pg_advisory_xact_lock(${id})`
const echoes = (sql: SqlClient.SqlClient, n: number) =>
  Effect.map(sql`SELECT ${n}::int AS n, pg_sleep(0.002)`, ([row]) => row?.["n"])

/** A pool of so many connections; `through` is another way to the same database. */
const pool = <A, E>(
  size: number,
  body: (sql: SqlClient.SqlClient, url: string) => Effect.Effect<A, E>,
  through = (url: string) => Effect.succeed(url)
) =>
  Effect.gen(function*() {
    const url = yield* freshDatabaseUrl
    const way = yield* through(url)
    yield* Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => body(sql, url)),
      clientLayer(Redacted.make(way), size)
    )
  })

describe("a statement that nobody waits for any more", () => {
  it.scopedLive("is cancelled though every connection is taken, and those that wait for one get theirs", () =>
    pool(3, (sql, url) =>
      Effect.scoped(Effect.gen(function*() {
        yield* lock(url, 1)
        const unwanted = yield* Effect.forEach(Array.range(1, 9), () => Effect.fork(wants(sql, 1)))
        yield* untilWaiting(url, 3)
        const innocents = yield* Effect.fork(
          Effect.forEach(Array.range(1, 300), (n) => echoes(sql, n), { concurrency: "unbounded" })
        )
        yield* Fiber.interruptAll(unwanted)
        assert.deepStrictEqual(yield* Fiber.join(innocents), Array.range(1, 300))
        assert.strictEqual(yield* waiting(url), 0)
      }))))

  it.scopedLive("never takes along what comes after it on its connection, when it ends by itself meanwhile", () =>
    pool(2, (sql, url) =>
      Effect.scoped(Effect.gen(function*() {
        const [letFirst, letSecond] = [yield* lock(url, 1), yield* lock(url, 2)]
        const first = yield* Effect.fork(wants(sql, 1))
        const second = yield* Effect.fork(wants(sql, 2))
        yield* untilWaiting(url, 2)
        const innocent = yield* Effect.fork(sql`SELECT pg_sleep(0.3), 1 AS n`)
        yield* Effect.yieldNow()
        const gone = yield* Effect.fork(Fiber.interrupt(first))
        yield* letFirst
        yield* letSecond
        yield* Fiber.join(second)
        assert.strictEqual((yield* Fiber.join(innocent))[0]?.["n"], 1)
        yield* Fiber.join(gone)
      }))))

  it.scopedLive("is hit at any moment of its life, and hundreds beside it never are", () =>
    pool(6, (sql) =>
      Effect.gen(function*() {
        // They end about when the cancellation comes: before, while and after it is on its way.
        const unwanted = Effect.forEach(Array.range(1, 96), (n) =>
          Effect.flatMap(
            Effect.fork(sql`SELECT pg_sleep(${0.022 + (n % 16) / 1000})`),
            (fiber) => Effect.zipRight(Effect.sleep(8), Fiber.interrupt(fiber))
          ), { concurrency: 4, discard: true })
        const innocents = Effect.forEach(Array.range(1, 600), (n) => echoes(sql, n), { concurrency: 5 })
        const [, answers] = yield* Effect.all([unwanted, innocents], { concurrency: 2 })
        assert.deepStrictEqual(answers, Array.range(1, 600))
      })))

  it.scopedLive("leaves no open transaction behind, neither in a part of one", () =>
    pool(1, (sql, url) =>
      Effect.scoped(Effect.gen(function*() {
        yield* sql`CREATE TABLE things (name text)`
        yield* lock(url, 1)
        const work = sql`INSERT INTO things VALUES ('unwanted')`.pipe(
          Effect.zipRight(sql`SET LOCAL statement_timeout = 0`),
          Effect.zipRight(wants(sql, 1))
        )
        for (const unwanted of [sql.withTransaction(work), sql.withTransaction(sql.withTransaction(work))]) {
          const fiber = yield* Effect.fork(unwanted)
          yield* untilWaiting(url, 1)
          yield* Effect.timeout(Fiber.interrupt(fiber), "10 seconds")
          assert.strictEqual(yield* waiting(url), 0)
        }
        // A part that is given up leaves the rest as it is.
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`INSERT INTO things VALUES ('kept')`
          yield* Effect.timeoutOption(sql.withTransaction(work), 50)
        }))
        assert.deepStrictEqual(yield* sql`SELECT name, now() = statement_timestamp() AS alone FROM things`, [
          { name: "kept", alone: true }
        ])
      }))))

  it.scopedLive("and waits for a connection itself, takes none", () =>
    pool(1, (sql) =>
      Effect.gen(function*() {
        const held = yield* Deferred.make<void>()
        const holder = yield* Effect.fork(sql.withTransaction(Deferred.await(held)))
        yield* Effect.yieldNow()
        const unwanted = yield* Effect.forEach(
          Array.range(1, 20),
          (n) => Effect.fork(n % 2 === 0 ? echoes(sql, n) : sql.withTransaction(echoes(sql, n)))
        )
        yield* Effect.yieldNow()
        const gone = yield* Effect.fork(Fiber.interruptAll(unwanted))
        yield* Deferred.succeed(held, undefined)
        yield* Fiber.join(gone)
        yield* Fiber.join(holder)
        assert.strictEqual(yield* echoes(sql, 7), 7)
      })))

  it.scopedLive.skipIf(!full)(
    long("gives up its connection, when PostgreSQL may still get a request to cancel that it has not answered"),
    () => {
      const proxy = new DatabaseProxy()
      return pool(1, (sql, url) =>
        Effect.scoped(Effect.gen(function*() {
          yield* lock(url, 1)
          const pid = Effect.map(sql`SELECT pg_backend_pid() AS pid`, ([row]) => row?.["pid"])
          const before = yield* pid
          const fiber = yield* Effect.fork(wants(sql, 1))
          yield* untilWaiting(url, 1)
          proxy.hold()
          yield* Fiber.interrupt(fiber)
          yield* Effect.sleep("3 seconds")
          proxy.letGo()
          assert.notStrictEqual(yield* pid, before)
          yield* Effect.addFinalizer(() => Effect.promise(proxy.cut))
        })), (url) => Effect.promise(() => proxy.through(url)))
    }
  )
})
