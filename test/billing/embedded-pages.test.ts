import { EmbeddedPayments } from "#src/billing/EmbeddedPayments.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { describe, expect, it as test, onTestFinished } from "vitest"
import { services } from "../deployments/support/services.ts"
import { Berth } from "../support/Berth.ts"
import { checkoutPath } from "../support/checkout.ts"
import { DatabaseTest, freshDatabaseUrl } from "../support/Database.ts"
import { PlainBrowser } from "../support/pages.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { stripeVariables } from "../support/stripe.ts"

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

  it.effect("a payment of which the account can't hear is none: the page stays open", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const payments = yield* EmbeddedPayments
      const open = "p".repeat(43)
      yield* sql`INSERT INTO users (id, email, password_hash, plan) VALUES ('u', 'u@example.com', '', 'free')`
      yield* sql`INSERT INTO billing_customers (id, account_id, processor) VALUES ('cus', 'u', 'embedded')`
      yield* sql`INSERT INTO embedded_checkouts (id, customer_id, plan, return_url, expires_at)
        VALUES (${open}, 'cus', 'pro', '/', now() + interval '1 hour')`
      yield* sql`ALTER TABLE subscriptions RENAME TO hidden`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(payments.pay(open, "paid"))))
      yield* sql`ALTER TABLE hidden RENAME TO subscriptions`
      assert.strictEqual((yield* payments.find(open))?.state, "open")
      yield* payments.pay(open, "paid")
      assert.strictEqual((yield* payments.find(open))?.state, "paid")
      assert.deepStrictEqual(yield* sql`SELECT plan FROM users`, [{ plan: "pro" }])
    }))
})

describe("a checkout page of the stand-in, begun before the settings changed", () => {
  const production = { NODE_ENV: "production", SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
  const changes: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
    ["in production", production],
    ["where Stripe takes the payments", stripeVariables("http://127.0.0.1:9")]
  ]
  test.each(changes)("is there no more %s, and can't be paid", async (_, variables) => {
    const scope = Effect.runSync(Scope.make())
    onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const home = { BERTH_HOME: temporaryDirectory(), SECRET_KEY: production.SECRET_KEY }
    const first = await new Berth().start({ databaseUrl, variables: home })
    const account = await first.signUp()
    const path = await checkoutPath(first, account, "enterprise")
    const browser = new PlainBrowser(first)
    await browser.go(path)
    const { fields } = browser.form()
    await first.stop()
    const second = await new Berth().start({ databaseUrl, variables: { ...home, ...variables } })
    onTestFinished(() => second.stop())
    const later = new PlainBrowser(second)
    for (const [name, value] of browser.cookies) later.cookies.set(name, value)
    expect((await later.go(path)).status).toBe(404)
    expect((await later.post(path, { ...fields, decision: "pay", renewals: "paid" })).status).toBe(404)
    expect(await runSql(databaseUrl, "SELECT id FROM embedded_subscriptions")).toEqual([])
    expect(await runSql(databaseUrl, "SELECT plan FROM users WHERE id = $1", [account.id])).toEqual([{ plan: "free" }])
  }, 60_000)
})
