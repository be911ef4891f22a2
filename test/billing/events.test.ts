import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { statusOf } from "../support/checkout.ts"
import { full } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { prices, signatureOf, stripeVariables, useStripe, webhookSecret } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))

const deliver = (body: string) => {
  const headers = { "stripe-signature": signatureOf(body, webhookSecret, Math.floor(berth.now() / 1000)) }
  return berth.request("POST", "/api/v1/billing/webhook", { body, headers })
}
const send = async (body: string) => {
  const { status } = await deliver(body)
  if (status !== 200) throw new Error(`the webhook answered ${status}`)
}

/** What the billing status is to be, by Stripe's states (docs/billing.md). */
const told: Readonly<Record<string, string>> = {
  trialing: "trialing",
  active: "active",
  past_due: "past_due",
  unpaid: "canceled",
  paused: "canceled",
  canceled: "canceled"
}

const plan = fc.constantFrom("developer" as const, "pro" as const, "enterprise" as const)
const changes = fc.record({
  status: fc.constantFrom("trialing", "active", "past_due", "unpaid", "paused", "canceled"),
  plan,
  cancels: fc.boolean()
})
type Change = typeof changes extends fc.Arbitrary<infer A> ? A : never

/** Seeds that say in which order the events come, how often, and how many are on their way at a time. */
const history = fc.record({
  changes: fc.array(changes, { minLength: 1, maxLength: 5 }),
  /** The plan of a second subscription, after the first has ended. */
  again: fc.option(plan),
  order: fc.array(fc.nat(1000), { minLength: 8, maxLength: 14 }),
  together: fc.integer({ min: 1, max: 4 })
})

describe("whatever order the events of Stripe come in, and however often", () => {
  it("the account ends in Stripe's state", async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ again, changes, order, together }) => {
        const account: Account = await berth.signUp()
        const subscribe = async (plan: string) => {
          const { url } = dataOf(await account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan }))
          return stripe.pay(url.split("/").at(-1) ?? "")
        }
        const before = stripe.events.length
        const subscription = await subscribe("developer")
        const apply = ({ cancels, plan, status }: Change) => {
          subscription.items.data[0]!.price = { id: prices[plan] }
          stripe.change(subscription, { status, cancel_at_period_end: cancels })
        }
        // Some events come while Stripe's state still changes, the rest afterwards; each at least once.
        const early = order.slice(0, 4)
        for (const [at, change] of changes.entries()) {
          apply(change)
          const so = stripe.events.slice(before)
          if (early[at] !== undefined) await send(so[early[at] % so.length]!)
        }
        if (again !== null) {
          stripe.change(subscription, { status: "canceled" })
          await subscribe(again)
        }
        const events = stripe.events.slice(before)
        const late = [...events, ...order.map((seed) => events[seed % events.length]!)]
          .map((event, at) => ({ event, at: order[at % order.length]! * (at + 7) % 31 }))
          .sort((a, b) => a.at - b.at)
          .map(({ event }) => event)
        for (let at = 0; at < late.length; at += together) {
          await Promise.all(late.slice(at, at + together).map(send))
        }
        const { cancels, plan, status } = changes.at(-1)!
        const expected = again !== null
          ? `${again} active`
          : told[status] === "canceled"
          ? "free canceled"
          : `${plan} ${told[status]}${cancels ? ", canceled" : ""}`
        expect(await statusOf(account)).toBe(expected)
        const [count] = await runSql(
          berth.databaseUrl,
          "SELECT count(*)::int AS count FROM billing_events WHERE id = ANY($1)",
          [events.map((body) => (JSON.parse(body) as { id: string }).id)]
        )
        expect(count, "each event is recorded once").toEqual({ count: events.length })
      }),
      { numRuns: full ? 40 : 10 }
    )
  }, 240_000)
})

describe("a signed event", () => {
  const eventOf = (object: object, id: unknown = `evt_${Math.random()}`) =>
    JSON.stringify({ id, object: "event", data: { object } })

  it("that is none, or can't be stored, is 400 and says why", async () => {
    const cases: ReadonlyArray<readonly [string, RegExp]> = [
      [eventOf({ customer: "cus_1" }, null), /is signed, and is no event that is taken here: id must be a string/],
      [eventOf({ customer: "cus_1" }, "evt_\u0000"), /id must not contain NUL/],
      [eventOf({ customer: "cus_1" }, "e".repeat(3_000)), /id must be at most 255/],
      [eventOf({ customer: "cus_\u0000" }), /customer must not contain NUL/],
      [eventOf({ customer: "cus_1", client_reference_id: "\u0000" }), /account must not contain NUL/],
      [eventOf({ customer: "cus_1", metadata: { accountId: "\u0000" } }), /account must not contain NUL/],
      ["{\"id\":\"evt_1\"}", /data is required/],
      ["{\"id\":\"evt_1\",\"data\":null}", /data must be an object/],
      [
        "{\"id\":\"evt_1\",\"object\":\"v2.core.event\",\"related_object\":{}}",
        /object is that of a thin event; let Stripe send/
      ],
      ["null", /must be an object/],
      ["[]", /./],
      ["7", /must be an object/]
    ]
    for (const [body, reason] of cases) {
      const answer = await deliver(body)
      expect([answer.status, answer.body], body).toEqual([400, failure("bad_request")])
      expect(answer.text, body).toMatch(reason)
      expect(answer.text, body).not.toMatch(/does not fit/)
    }
  })

  it("binds no customer to an account but the one that we made for it", async () => {
    const [victim, other] = [await berth.signUp(), await berth.signUp()]
    const customersOf = ({ id }: Account) =>
      runSql(berth.databaseUrl, "SELECT id FROM billing_customers WHERE account_id = $1", [id])
    const completed = (customer: string, account: Account) =>
      eventOf({ object: "checkout.session", mode: "payment", customer, client_reference_id: account.id })
    stripe.customers.set("cus_buyer", { id: "cus_buyer", metadata: {} })
    stripe.customers.set("cus_others", { id: "cus_others", metadata: { accountId: other.id } })
    for (const customer of ["cus_buyer", "cus_others", "cus_unknown"]) await send(completed(customer, victim))
    expect(await customersOf(victim)).toEqual([])
    await victim.post("/v1/billing/subscribe", { plan: "pro" })
    expect((await customersOf(victim)).map(({ id }) => stripe.customers.get(String(id))?.metadata)).toEqual([
      { accountId: victim.id }
    ])
    // After a restore from before the account had a customer.
    await runSql(berth.databaseUrl, "DELETE FROM billing_customers WHERE account_id = $1", [other.id])
    await send(completed("cus_others", other))
    expect(await customersOf(other)).toEqual([{ id: "cus_others" }])
  })
})
