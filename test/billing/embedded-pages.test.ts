import { EmbeddedPayments } from "#src/billing/EmbeddedPayments.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { services } from "../deployments/support/services.ts"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const [old, recent] = ["o".repeat(43), "r".repeat(43)]

layer(services(DatabaseTest, settingsTest()), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect("a checkout page of the stand-in is forgotten 30 days after its time, whatever became of it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const payments = yield* EmbeddedPayments
      yield* sql`INSERT INTO embedded_checkouts (id, customer_id, plan, return_url, expires_at, closed) VALUES
        (${old}, 'c', 'pro', '/', now() - interval '31 days', true),
        (${recent}, 'c', 'pro', '/', now() - interval '29 days', false)`
      yield* payments.forget
      assert.isUndefined(yield* payments.find(old))
      assert.strictEqual((yield* payments.find(recent))?.state, "closed")
    }))
})

const production = { NODE_ENV: "production", SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
layer(services(DatabaseTest, settingsTest(production)), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect("a page that was left open in development can't be paid in production", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const payments = yield* EmbeddedPayments
      yield* sql`INSERT INTO embedded_checkouts (id, customer_id, plan, return_url, expires_at) VALUES
        (${recent}, 'c', 'pro', '/', now() + interval '1 hour')`
      assert.strictEqual((yield* payments.find(recent))?.state, "closed")
      yield* payments.pay(recent, "paid")
      assert.deepStrictEqual(yield* sql`SELECT id FROM embedded_subscriptions`, [])
    }))
})
