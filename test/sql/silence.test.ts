import { clientLayer } from "#sql/Client.ts"
import { closeOnSilence } from "#sql/statement-limit.ts"
import { describeOutage } from "#src/shared/outage.ts"
import { SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { DatabaseProxy } from "../support/proxy.ts"

/** A pool whose statements have little time, on a way to the database that can fall silent. */
const site = Effect.gen(function*() {
  const proxy = new DatabaseProxy()
  const url = yield* freshDatabaseUrl
  const way = yield* Effect.promise(() => proxy.through(url))
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({ connectionString: way, max: 1, connectionTimeoutMillis: 1_000 })
      pool.on("error", () => undefined)
      pool.on("connect", (client) => closeOnSilence(client, 100))
      return pool
    }),
    (pool) =>
      Effect.promise(async () => {
        await proxy.cut()
        await pool.end()
      })
  )
  return { pool, proxy }
})

const clientOnFresh = Layer.unwrapScoped(Effect.map(freshDatabaseUrl, (url) => clientLayer(Redacted.make(url), 2)))

const failed = (query: Promise<unknown>) => query.then(() => undefined, (error: Error) => error)

describe("a database that says nothing", () => {
  it.scopedLive.skipIf(!full)(
    long("fails the statement in time, as an outage, and the pool goes on with another connection"),
    () =>
      Effect.gen(function*() {
        const { pool, proxy } = yield* site
        yield* Effect.promise(async () => {
          await pool.query("SELECT 1")
          proxy.hold()
          const started = performance.now()
          const error = await failed(pool.query("SELECT 2"))
          assert.isBelow(performance.now() - started, 5_000)
          assert.strictEqual(error?.message, "timeout: the database said nothing for 1.1 seconds")
          assert.strictEqual(describeOutage(new SqlError({ cause: error }))?.status, 503)
          proxy.letGo()
          assert.deepStrictEqual((await pool.query("SELECT 3 AS three")).rows, [{ three: 3 }])
        })
      })
  )

  it.scopedLive.skipIf(!full)(
    long("is waited for as long as the server was told that a transaction's statements may take"),
    () =>
      Effect.gen(function*() {
        const { pool, proxy } = yield* site
        yield* Effect.promise(async () => {
          const client = await pool.connect()
          await new Promise((done) => client.query("BEGIN", [], done))
          await new Promise((done) => client.query("SET LOCAL statement_timeout = 60000", [], done))
          proxy.hold()
          setTimeout(proxy.letGo, 1_600)
          const rows = await new Promise((resolve, reject) =>
            client.query("SELECT 1 AS one", [], (error, result) => error ? reject(error) : resolve(result.rows))
          )
          assert.deepStrictEqual(rows, [{ one: 1 }])
          await new Promise((done) => client.query("COMMIT", [], done))
          proxy.hold()
          const error = await new Promise<Error | null>((done) => client.query("SELECT 2", [], (error) => done(error)))
          assert.match(error?.message ?? "", /said nothing for 1\.1 seconds/)
          client.release()
          proxy.letGo()
          assert.strictEqual((await pool.query("SELECT 4")).rowCount, 1)
        })
      })
  )

  it.scopedLive("that is only slow says so itself, and the connection stays", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const pid = () => Effect.map(sql`SELECT pg_backend_pid() AS pid`, ([row]) => row?.["pid"])
      yield* sql.withTransaction(Effect.gen(function*() {
        const before = yield* pid()
        yield* sql`SET LOCAL statement_timeout = 50`
        yield* sql`SAVEPOINT a`
        const error = yield* Effect.flip(sql`SELECT pg_sleep(5)`)
        assert.strictEqual(describeOutage(error)?.message, "The database did not answer in time; try again shortly")
        yield* sql`ROLLBACK TO SAVEPOINT a`
        assert.strictEqual(yield* pid(), before)
      }))
    }).pipe(Effect.provide(clientOnFresh)))
})
