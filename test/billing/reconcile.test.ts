import { BillingJobsLive } from "#src/billing/Live.ts"
import { Periods } from "#src/billing/Periods.ts"
import { JobsLive } from "#src/jobs/Live.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Logger } from "effect"
import { afterEach } from "vitest"
import { services } from "../deployments/support/services.ts"
import { DatabaseTest } from "../support/Database.ts"
import { movableClock } from "../support/movable-clock.ts"
import { settingsTest } from "../support/Settings.ts"
import { stripeVariables, useStripe } from "../support/stripe.ts"

const stripe = await useStripe()
afterEach(() => void (stripe.instead = () => undefined))

const idOf = (at: number) => `cus_${String(at).padStart(3, "0")}`
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => idOf(from + at))
const lists = () => stripe.asked.filter(({ call }) => call === "GET /v1/subscriptions").length
const read = (ids: ReadonlyArray<string>) => (call: string) => ids.some((id) => call.includes(id))

/** So many customers that were never read. */
const customers = (count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`TRUNCATE users CASCADE`
    for (const id of names(0, count)) {
      stripe.customers.set(id, { id, metadata: {} })
      yield* sql`INSERT INTO users (id, email, password_hash) VALUES (${id}, ${`${id}@example.com`}, 'x')`
      yield* sql`INSERT INTO billing_customers (id, account_id, processor) VALUES (${id}, ${id}, 'stripe')`
    }
    stripe.asked.length = 0
  })
const unread = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string }>`SELECT id FROM billing_customers WHERE synced_at IS NULL ORDER BY id`
  return rows.map(({ id }) => id)
})

const until = Effect.fnUntraced(function*(what: string, holds: () => boolean) {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 400) assert.fail(`not in ten seconds: ${what}`)
    yield* Effect.sleep("25 millis")
  }
})

const settings = settingsTest(stripeVariables(stripe.url))
layer(services(DatabaseTest, settings), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect("a customer that can't be read keeps nobody back, is told once, and is asked once a run", () =>
    Effect.gen(function*() {
      yield* customers(30)
      const spoiled = [idOf(0), idOf(7)]
      stripe.instead = (call) => read(spoiled)(call) ? { text: "{}" } : undefined
      const told: Array<string> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void told.push(String(message))))
      yield* Effect.provide((yield* Periods).reconcile, logger)
      assert.deepStrictEqual(yield* unread, spoiled)
      assert.deepStrictEqual(told.filter((line) => line.includes("cus_")), [
        "The subscriptions of 2 customers could not be read, and are tried again with the next run: cus_000, cus_007"
      ])
      stripe.instead = () => undefined
      yield* (yield* Periods).reconcile
      assert.deepStrictEqual(yield* unread, [])
    }))

  it.effect("while Stripe can't be read at all it fails, and asks few of many; then all are read", () =>
    Effect.gen(function*() {
      yield* customers(60)
      stripe.instead = () => ({ text: "{}" })
      const { reconcile } = yield* Periods
      assert.strictEqual((yield* Effect.flip(reconcile))._tag, "PaymentsUnavailable")
      assert.isBelow(lists(), 30)
      assert.strictEqual((yield* unread).length, 60)
      stripe.instead = () => undefined
      yield* reconcile
      assert.deepStrictEqual(yield* unread, [])
    }))

  it.effect("many that can't be read come after those that could be read the day before", () =>
    Effect.gen(function*() {
      yield* customers(80)
      const spoiled = names(0, 45)
      const sql = yield* SqlClient.SqlClient
      const { reconcile } = yield* Periods
      yield* sql`UPDATE billing_customers SET synced_at = now() - interval '2 days' WHERE id > ${idOf(44)}`
      stripe.instead = (call) => read(spoiled)(call) ? { text: "{}" } : undefined
      yield* Effect.flip(reconcile)
      const [late] = yield* sql`SELECT count(*)::int AS count FROM billing_customers
        WHERE synced_at < now() - interval '1 day'`
      assert.deepStrictEqual(late, { count: 0 })
    }))

  it.effect("the only customer that can't be read is a failure", () =>
    Effect.gen(function*() {
      yield* customers(1)
      stripe.instead = () => ({ text: "{}" })
      assert.strictEqual((yield* Effect.flip((yield* Periods).reconcile))._tag, "PaymentsUnavailable")
    }))

  it.scoped("of two hosts at the same time one reads each customer once, and a day later one again", () =>
    Effect.gen(function*() {
      yield* customers(12)
      const { advance, clock, hurry } = movableClock()
      const host = Layer.fresh(BillingJobsLive).pipe(
        Layer.provide(Layer.fresh(JobsLive)),
        Layer.provide(settingsTest())
      )
      for (let hosts = 0; hosts < 2; hosts++) yield* Effect.withClock(Layer.build(host), clock)
      for (const read of [12, 24]) {
        // Both come to their turn: the first a minute after their start, the next an hour after the one before.
        yield* until(`${read} readings`, () => (hurry(60_000), hurry(3_600_000), lists() >= read))
        for (let turns = 0; turns < 5; turns++) {
          hurry(3_600_000)
          yield* Effect.sleep("100 millis")
        }
        assert.strictEqual(lists(), read)
        advance(Duration.toMillis("25 hours"))
      }
    }))
})
