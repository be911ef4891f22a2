import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { statusOf } from "../support/checkout.ts"
import { sampled } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { prices, signatureOf, stripeVariables, useStripe, webhookSecret } from "../support/stripe.ts"

const stripe = await useStripe()
// Not `useBerth`: the failures here are not foreseen by the platform, and its log tells of them.
const berth = new Berth()
beforeAll(async () => {
  await berth.start({ variables: stripeVariables(stripe.url) })
  stripe.now = berth.now
})
afterAll(berth.stop)

const send = async (body: string) => {
  const headers = { "stripe-signature": signatureOf(body, webhookSecret, Math.floor(berth.now() / 1000)) }
  return (await berth.request("POST", "/api/v1/billing/webhook", { body, headers })).status
}

const payer = async () => {
  const account = await berth.signUp()
  await newBusiness(account, { projectId: (await account.project()).id })
  const { url } = dataOf(await account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan: "developer" }))
  const subscription = stripe.pay(url.split("/").at(-1) ?? "")
  expect(await send(stripe.events.at(-1) ?? "")).toBe(200)
  return { account, subscription }
}

/** All that an event writes, but the number of readings begun: that is no part of it. */
const written = async ({ id }: Account, event: string) => {
  const [row] = await runSql(
    berth.databaseUrl,
    `SELECT u.plan, u.period_start, u.period_end, c.applied, c.synced_at, to_jsonb(s) AS subscription, l.tier,
       (SELECT count(*)::int FROM billing_events WHERE id = $2) AS recorded
     FROM users u JOIN billing_customers c ON c.account_id = u.id JOIN subscriptions s ON s.account_id = u.id
     JOIN projects p ON p.account_id = u.id JOIN businesses b ON b.project_id = p.id JOIN listings l ON l.business_id = b.id
     WHERE u.id = $1`,
    [id, event]
  )
  return row
}

/** The statements of the transaction in their order, and its end. */
const moments = [
  ["as it is recorded", "AFTER INSERT ON billing_events"],
  ["as its reading is claimed", "AFTER UPDATE OF applied ON billing_customers"],
  ["as the subscription is written", "AFTER INSERT OR UPDATE ON subscriptions"],
  ["as the account gets its plan", "AFTER UPDATE OF plan ON users"],
  ["as its listings get their tier", "AFTER UPDATE OF tier ON listings"],
  ["as the account gets its period", "AFTER UPDATE OF period_end ON users"],
  ["at the commit", "AFTER INSERT ON billing_events DEFERRABLE INITIALLY DEFERRED"]
] as const

const faults = [
  ["a statement fails", 500, "RAISE EXCEPTION 'a fault of the test'"],
  ["the connection is cut", 503, "PERFORM pg_terminate_backend(pg_backend_pid())"]
] as const

describe("an event that fails half-way is nowhere written, and applied when it is sent again", () => {
  for (const [at, [what, status, fault]] of faults.entries()) {
    it.each(sampled(moments, 3, at))(`${what} %s`, async (_, moment) => {
      const { account, subscription } = await payer()
      const [item] = subscription.items.data
      item!.price = { id: prices.pro }
      item!.current_period_end += 60
      stripe.change(subscription, { cancel_at_period_end: true })
      const body = stripe.events.at(-1) ?? ""
      const { id } = JSON.parse(body) as { id: string }
      const before = await written(account, id)
      expect(before).toMatchObject({ plan: "developer", tier: "featured", recorded: 0 })

      const kind = moment.includes("DEFERRABLE") ? "CONSTRAINT TRIGGER" : "TRIGGER"
      await runSql(
        berth.databaseUrl,
        `CREATE FUNCTION fail_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${fault}; RETURN NULL; END $$;
         CREATE ${kind} fail_here ${moment} FOR EACH ROW EXECUTE FUNCTION fail_here()`
      )
      try {
        expect(await send(body)).toBe(status)
        expect(await written(account, id)).toEqual(before)
      } finally {
        await runSql(berth.databaseUrl, "DROP FUNCTION fail_here CASCADE")
      }

      expect(await send(body)).toBe(200)
      expect(await written(account, id)).toMatchObject({ plan: "pro", tier: "premium", recorded: 1 })
      expect(await statusOf(account)).toBe("pro active, canceled")
    })
  }
})
