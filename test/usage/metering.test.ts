import { JobsLive } from "#src/jobs/Live.ts"
import { dayKey, monthKey, monthOf } from "#src/usage/month.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { UsageRepo } from "#src/usage/UsageRepo.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { until } from "../deployments/support/wait.ts"
import { newAccount } from "../gateway/support.ts"
import { DatabaseTest, freshDatabaseUrl } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { settingsTest } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { counter } from "./support/counting.ts"

const services = JobsLive.pipe(Layer.provideMerge(DatabaseTest), Layer.provideMerge(settingsTest()))

/** A gateway of its own on the test's database, as far as counting goes. */
const gateway = Effect.map(
  Layer.build(Layer.fresh(Layer.provide(RequestMetering.Default, UsageRepo.Default))),
  (context) => Effect.runSync(Effect.provide(RequestMetering, context))
)

const ask = (metering: RequestMetering, account: string, limit: number, times: number) =>
  Effect.promise(async () => {
    const asked = Array.from({ length: times }, async () => (await metering.admit(account, limit))._tag)
    return (await Promise.all(asked)).filter((tag) => tag === "Admitted").length
  })

const storedOf = (accountId: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ month: number; days: number; reserved: number }>`SELECT
        (SELECT coalesce(sum(request_count), 0)::int FROM usage WHERE account_id = ${accountId}) AS month,
        (SELECT coalesce(sum(request_count), 0)::int FROM usage_days WHERE account_id = ${accountId}) AS days,
        (SELECT coalesce(sum(requests), 0)::int FROM usage_reservations WHERE account_id = ${accountId}) AS reserved`,
      ([row]) => row!
    ))

describe("the month's requests", () => {
  it.scopedLive("are let through to the last, and no further, by one gateway", () =>
    Effect.gen(function*() {
      const [metering, account] = [yield* gateway, yield* newAccount()]
      assert.strictEqual(yield* ask(metering, account, 1_000, 400), 400)
      assert.strictEqual(yield* ask(metering, account, 1_000, 10_000), 600)
      const { end } = monthOf(Date.now())
      assert.deepStrictEqual(yield* Effect.promise(async () => metering.admit(account, 1_000)), {
        _tag: "Refused",
        used: 1_000,
        resetsAt: end
      })
      yield* metering.flush
      assert.deepStrictEqual(yield* storedOf(account), { month: 1_000, days: 1_000, reserved: 0 })
      assert.strictEqual(yield* ask(metering, account, 1_100, 200), 100, "a larger plan counts at once")
      assert.strictEqual((yield* Effect.promise(async () => metering.admit(account, null)))._tag, "Admitted")
    }).pipe(Effect.provide(services)))

  it.scopedLive("are let through to the last by several, whoever holds what", () =>
    Effect.gen(function*() {
      const [one, two, three] = [yield* gateway, yield* gateway, yield* gateway]
      const account = yield* newAccount()
      // Each has reserved some by now, and one of them asks no more.
      for (const metering of [one, two, three]) assert.strictEqual(yield* ask(metering, account, 1_000, 1), 1)
      assert.isAbove((yield* storedOf(account)).reserved, 3)
      const passed = yield* Effect.all([ask(one, account, 1_000, 700), ask(two, account, 1_000, 700)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(passed[0] + passed[1] + 3, 1_000)
      for (const metering of [one, two, three]) yield* metering.flush
      assert.deepStrictEqual(yield* storedOf(account), { month: 1_000, days: 1_000, reserved: 0 })
    }).pipe(Effect.provide(services)), 30_000)

  it.scopedLive(
    "are those of a smaller plan at once, and what was reserved under the larger one is none of them",
    () =>
      Effect.gen(function*() {
        const [one, two] = [yield* gateway, yield* gateway]
        const account = yield* newAccount()
        for (let i = 0; i < 50; i++) assert.strictEqual(yield* ask(one, account, 100_000, 10), 10)
        assert.strictEqual(yield* ask(two, account, 100_000, 100), 100)
        assert.isAbove((yield* storedOf(account)).reserved, 800)
        assert.strictEqual(yield* ask(one, account, 800, 700), 200, "not all that is reserved, and not nothing")
        assert.strictEqual(yield* ask(two, account, 800, 10), 0)
        yield* Effect.zipRight(one.flush, two.flush)
        assert.deepStrictEqual(yield* storedOf(account), { month: 800, days: 800, reserved: 0 })
        assert.strictEqual(yield* ask(one, account, 100_000, 300), 300, "and those of a larger one")
      }).pipe(Effect.provide(services)),
    30_000
  )

  it.scopedLive("are of the account's period, and a refusal tells its end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [metering, account] = [yield* gateway, yield* newAccount()]
      assert.strictEqual(yield* ask(metering, account, 10, 20), 10)
      yield* metering.flush
      const [start, end] = [new Date(Date.now() - 5_000), new Date("2099-05-05T05:05:05Z")]
      yield* sql`UPDATE users SET period_start = ${start}, period_end = ${end} WHERE id = ${account}`
      yield* Effect.sleep("1100 millis")
      assert.strictEqual(yield* ask(metering, account, 10, 20), 10, "a new period")
      assert.deepStrictEqual(yield* Effect.promise(async () => metering.admit(account, 10)), {
        _tag: "Refused",
        used: 10,
        resetsAt: end
      })
      metering.addBytes(account, 5)
      yield* metering.flush
      const periods = yield* sql`SELECT period, request_count::int, bandwidth_bytes::int FROM usage
        WHERE account_id = ${account} ORDER BY period`
      assert.deepStrictEqual(periods, [
        { period: monthOf(Date.now()).start, requestCount: 10, bandwidthBytes: 0 },
        { period: start, requestCount: 10, bandwidthBytes: 5 }
      ])
      assert.deepStrictEqual(yield* storedOf(account), { month: 20, days: 20, reserved: 0 })
    }).pipe(Effect.provide(services)))

  it.scopedLive("that were admitted and not passed on are given back", () =>
    Effect.gen(function*() {
      const [metering, account] = [yield* gateway, yield* newAccount()]
      assert.strictEqual(yield* ask(metering, account, 4, 10), 4)
      metering.takeBack(account)
      yield* metering.flush
      assert.deepStrictEqual(yield* storedOf(account), { month: 3, days: 3, reserved: 0 })
      yield* Effect.sleep("1100 millis")
      assert.strictEqual(yield* ask(metering, account, 4, 10), 1)
    }).pipe(Effect.provide(services)))

  it.scopedLive("pass while the database can't be asked, and are counted when it can", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [metering, account] = [yield* gateway, yield* newAccount()]
      yield* sql`ALTER TABLE usage RENAME TO hidden`
      assert.strictEqual(yield* ask(metering, account, 5, 20), 20)
      yield* metering.flush
      yield* sql`ALTER TABLE hidden RENAME TO usage`
      yield* metering.flush
      assert.deepStrictEqual(yield* storedOf(account), { month: 20, days: 20, reserved: 0 })
    }).pipe(Effect.provide(services)))

  it.scopedLive("of an account that is deleted meanwhile are nobody's", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [metering, kept, gone] = [yield* gateway, yield* newAccount(), yield* newAccount()]
      for (const account of [kept, gone]) yield* ask(metering, account, 1_000, 5)
      yield* sql`DELETE FROM users WHERE id = ${gone}`
      yield* metering.flush
      assert.deepStrictEqual(yield* storedOf(kept), { month: 5, days: 5, reserved: 0 })
      assert.strictEqual(yield* ask(metering, gone, 1_000, 5), 0)
    }).pipe(Effect.provide(services)))
})

describe.skipIf(!full)(long("two processes on one database"), () => {
  const month = monthKey(Date.now())
  const account = "one"
  const counters = (url: string) =>
    Effect.all([counter({ DATABASE_URL: url }), counter({ DATABASE_URL: url })], { concurrency: "unbounded" })
  const prepared = Effect.gen(function*() {
    const url = yield* freshDatabaseUrl
    const sql = (statement: string) => Effect.promise(() => runSql(url, statement, []))
    yield* sql(`INSERT INTO users (id, email, password_hash, plan) VALUES ('${account}', 'a@example.com', '', 'free')`)
    const used = Effect.map(
      sql(
        `SELECT (SELECT request_count FROM usage)::int AS month, (SELECT sum(request_count) FROM usage_days)::int AS days`
      ),
      ([row]) => row
    )
    return { url, sql, used }
  })

  it.scopedLive("let exactly as many through as the month has left, and count them all", () =>
    Effect.gen(function*() {
      const { sql, url, used } = yield* prepared
      yield* sql(
        `INSERT INTO usage (account_id, period, request_count) VALUES ('${account}', '${month}T00:00:00Z', 9000)`
      )
      yield* sql(
        `INSERT INTO usage_days (account_id, day, request_count) VALUES ('${account}', '${dayKey(Date.now())}', 9000)`
      )
      const [one, two] = yield* counters(url)
      const question = { _tag: "Month", account, limit: 10_000, requests: 5_000 } as const
      const passed = yield* Effect.promise(() => Promise.all([one.ask(question), two.ask(question)]))
      assert.strictEqual(passed[0] + passed[1], 1_000)
      yield* Effect.promise(() => Promise.all([one.end("SIGTERM"), two.end("SIGTERM")]))
      assert.deepStrictEqual(yield* used, { month: 10_000, days: 10_000 })
    }), 60_000)

  it.scopedLive(
    "count all that one of them did until it was killed, but for what it counted since its last write",
    () =>
      Effect.gen(function*() {
        const { sql, url, used } = yield* prepared
        const [one, two] = yield* counters(url)
        const ask = (process: typeof one, requests: number, limit = 100_000) =>
          Effect.promise(() => process.ask({ _tag: "Month", account, limit, requests }))
        assert.strictEqual(yield* ask(one, 1_000), 1_000)
        assert.deepStrictEqual(yield* until(used, (row) => row?.["month"] === 1_000), { month: 1_000, days: 1_000 })
        assert.strictEqual(yield* ask(one, 10), 10)
        yield* Effect.promise(() => one.end("SIGKILL"))
        assert.strictEqual(yield* ask(two, 500), 500)
        const counted = yield* until(used, (row) => Number(row?.["month"]) >= 1_500)
        assert.deepStrictEqual(counted, { month: 1_500, days: 1_500 }, "the ten are lost")
        // What the dead one had reserved is nobody's for fifteen seconds, and then the others' again.
        yield* sql("UPDATE usage_reservations SET taken_at = taken_at - interval '15 seconds'")
        assert.strictEqual(yield* ask(two, 200, 1_600), 100)
        yield* Effect.promise(() => two.end("SIGTERM"))
        assert.deepStrictEqual(yield* used, { month: 1_600, days: 1_600 })
      }),
    90_000
  )
})
