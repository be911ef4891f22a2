import { clientLayer, problemOf, SqlLive } from "#sql/Client.ts"
import { prepared } from "#src/format/prepared.ts"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"
import { DatabaseTest, freshDatabaseUrl } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

layer(DatabaseTest)("the client", (it) => {
  it.effect("speaks camelCase to code and snake_case to SQL, and leaves JSON alone", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      yield* sql`CREATE TABLE things (some_name text NOT NULL, some_json jsonb NOT NULL)`
      const json = { snake_key: { camelKey: [1, { another_key: null }] } }
      yield* sql`INSERT INTO things ${sql.insert({ someName: "a", someJson: sql.json(json) })}`
      assert.deepStrictEqual(yield* sql`SELECT * FROM things`, [{ someName: "a", someJson: json }])
    }))

  it.effect("stops a statement that takes too long", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`SELECT current_setting('statement_timeout') AS statement,
        current_setting('idle_in_transaction_session_timeout') AS idle`
      assert.deepStrictEqual(row, { statement: "14s", idle: "1min" })
    }))
})

describe("a statement that is marked to be prepared", () => {
  it.scopedLive("is planned once a connection, by whatever values it comes; others are not kept", () =>
    Effect.gen(function*() {
      const url = yield* freshDatabaseUrl
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const double = (n: number) => sql`${sql.literal(prepared)} SELECT 2 * ${n}::int AS doubled`
        for (let n = 1; n <= 8; n++) assert.deepStrictEqual(yield* double(n), [{ doubled: 2 * n }])
        yield* sql`SELECT ${1}::int AS n`
        const kept = yield* sql`SELECT statement, generic_plans + custom_plans AS uses FROM pg_prepared_statements`
        assert.deepStrictEqual(kept, [{ statement: `${prepared} SELECT 2 * $1::int AS doubled`, uses: "8" }])

        yield* sql`SELECT pg_terminate_backend(pg_backend_pid())`.pipe(Effect.ignore)
        const again = yield* Effect.retry(double(21), { times: 20, schedule: Schedule.spaced("50 millis") })
        assert.deepStrictEqual(again, [{ doubled: 42 }])
      }).pipe(Effect.provide(clientLayer(Redacted.make(url), 1)))
    }))
})

describe("a lost connection", () => {
  it.scopedLive("fails the statement it hits, never the process, and the pool goes on", () =>
    Effect.gen(function*() {
      const url = yield* freshDatabaseUrl
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const sleeping = yield* Effect.fork(Effect.flip(sql`SELECT pg_sleep(20)`))
        yield* Effect.forEach([1, 2, 3], () => sql`SELECT 1`, { concurrency: 3 })
        yield* Effect.sleep("100 millis")
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`
        assert.strictEqual((yield* sleeping)._tag, "SqlError")
        const again = yield* Effect.retry(sql`SELECT 2 AS two`, { times: 20, schedule: Schedule.spaced("50 millis") })
        assert.deepStrictEqual(again, [{ two: 2 }])
      }).pipe(Effect.provide(clientLayer(Redacted.make(url), 4)))
    }))
})

const refusal = (url: string) =>
  Effect.map(
    Effect.flip(Effect.provide(SqlClient.SqlClient, Layer.provide(SqlLive, settingsTest({ DATABASE_URL: url })))),
    (error) => error.message
  )

describe("a DATABASE_URL that can't be used", () => {
  it.live("stops the start with one sentence that names it, and never with the password", () =>
    Effect.gen(function*() {
      const server = createServer().listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close()
      const urls = [
        [
          `postgres://berth:hunter2secret@127.0.0.1:${port}/berth`,
          /127\.0\.0\.1:\d+ can't be used: connect ECONNREFUSED/
        ],
        ["postgres://berth:hunter2secret@no-such-host.invalid/berth", /no-such-host\.invalid can't be used/],
        ["mysql://berth:hunter2secret@localhost/berth", /must be a PostgreSQL URL/],
        ["postgres://berth:hunter2secret@bad host/berth", /must be a PostgreSQL URL/],
        ["hunter2secret", /must be a PostgreSQL URL/]
      ] as const
      for (const [url, expected] of urls) {
        const message = yield* refusal(url)
        assert.match(message, /^DATABASE_URL/)
        assert.match(message, expected)
        assert.notInclude(message, "hunter2secret")
        assert.notInclude(message, "\n")
      }
    }))

  it.scopedLive("tells what the server says of a database that is not there", () =>
    Effect.gen(function*() {
      const url = new URL(yield* freshDatabaseUrl)
      url.pathname = "/not_there"
      assert.match(yield* refusal(url.href), /database "not_there" does not exist/)
    }))

  it("is refused when the server is too old, not UTF-8, or a replica", () => {
    const good = { version: 140000, encoding: "UTF8", replica: false }
    assert.isUndefined(problemOf(good))
    assert.isUndefined(problemOf({ ...good, version: 180004 }))
    assert.match(String(problemOf({ ...good, version: 130022 })), /version 13, 14 or newer is needed/)
    assert.match(String(problemOf({ ...good, encoding: "SQL_ASCII" })), /SQL_ASCII/)
    assert.match(String(problemOf({ ...good, replica: true })), /replica/)
  })
})
