import { beforeAll, describe, expect, it } from "vitest"
import { failure, timestamp } from "../contract/shapes.ts"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { secretKey } from "../support/stripe-objects.ts"
import { prices, signatureOf, stripeVariables, useStripe, webhookSecret } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))

interface Status {
  readonly data: { readonly plan: string; readonly status: string; readonly cancelAtPeriodEnd?: true }
}

const statusOf = async (account: Account) => {
  const { cancelAtPeriodEnd, plan, status } = dataOf(await account.get<Status>("/v1/billing"))
  return cancelAtPeriodEnd === true ? `${plan} ${status}, canceled` : `${plan} ${status}`
}

const subscribe = (account: Account, plan = "developer") =>
  account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan })
const sessionIn = (url: string) => url.split("/").at(-1) ?? ""
const checkoutOf = async (account: Account, plan = "developer") => sessionIn(dataOf(await subscribe(account, plan)).url)

/** A message of Stripe to the webhook. */
const send = (body: string, signature = signatureOf(body, webhookSecret, Math.floor(berth.now() / 1000))) =>
  berth.request("POST", "/api/v1/billing/webhook", { body, headers: { "stripe-signature": signature } })

/** Somebody who pays for a plan. */
const payer = async (plan = "developer") => {
  const account = await berth.signUp()
  const subscription = stripe.pay(await checkoutOf(account, plan))
  await send(stripe.events.at(-1) ?? "")
  return { account, subscription }
}

const callsOf = async (work: () => Promise<unknown>) => {
  const before = stripe.asked.length
  await work()
  return stripe.asked.slice(before)
}

describe("a subscription by Stripe", () => {
  it("begins on Stripe's page: one customer an account, the price of the plan, and nothing before the payment", async () => {
    const account = await berth.signUp()
    const answer = await subscribe(account, "pro")
    expect([answer.status, answer.body]).toEqual([201, {
      data: { url: expect.stringContaining("checkout.stripe.test") }
    }])
    const session = stripe.sessions.get(sessionIn(answer.body.data.url))
    expect(session).toMatchObject({
      price: prices.pro,
      client_reference_id: account.id,
      metadata: { accountId: account.id, plan: "pro" },
      success_url: expect.stringContaining("/billing/return/")
    })
    expect(await statusOf(account)).toBe("free active")
    stripe.pay(session?.id ?? "")
    // The event of the subscription, which names no more than its customer.
    expect((await send(stripe.events.at(-2) ?? "")).status).toBe(200)
    expect(await statusOf(account)).toBe("pro active")
    expect(dataOf(await account.get("/v1/billing"))).toMatchObject({
      currentPeriodStart: timestamp,
      limits: { maxServers: 50 }
    })
    expect((await account.get("/v1/auth/me")).body).toMatchObject({ data: { plan: "pro" } })
    const customers = [...stripe.customers.values()].filter(({ metadata }) => metadata["accountId"] === account.id)
    expect(customers.length).toBe(1)
  })

  it("is known on the return from the page, though no event came", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    const { cancel_url, success_url } = stripe.sessions.get(id)!
    const path = (url: string) => url.slice(berth.url.length)
    const look = (url: string) => berth.request("GET", path(url), { headers: { accept: "text/html" } })
    expect((await look(cancel_url)).text).toContain("Nothing was paid")
    expect((await look(success_url)).text).toContain("is not paid yet")
    stripe.pay(id)
    expect((await look(success_url)).text).toContain("You are on the Developer plan")
    expect(await statusOf(account)).toBe("developer active")
    expect((await berth.request("GET", "/billing/return/x", { headers: { accept: "text/html" } })).status).toBe(404)
  })

  it("switches with proration, at once, and keeps its one item", async () => {
    const { account, subscription } = await payer()
    expect((await account.patch("/v1/billing/plan", { plan: "enterprise" })).status).toBe(204)
    expect(subscription.items.data.map(({ price }) => price.id)).toEqual([prices.enterprise])
    expect(await statusOf(account)).toBe("enterprise active")
    const again = await callsOf(() => account.patch("/v1/billing/plan", { plan: "enterprise" }))
    expect(again.filter(({ call }) => call.startsWith("POST"))).toEqual([])
    const back = await callsOf(() => account.patch("/v1/billing/plan", { plan: "developer" }))
    expect(back.filter(({ call, key }) => call.startsWith("POST") && key !== undefined).length).toBe(1)
    expect(await statusOf(account)).toBe("developer active")
  })

  it("is canceled at the end of its period, again without effect; a switch takes it back, and it can be canceled anew", async () => {
    const { account, subscription } = await payer()
    for (let round = 0; round < 2; round++) {
      expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
      expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
      expect(subscription.cancel_at_period_end).toBe(true)
      expect(await statusOf(account)).toBe("developer active, canceled")
      expect((await account.patch("/v1/billing/plan", { plan: "developer" })).status).toBe(204)
      expect(subscription.cancel_at_period_end).toBe(false)
    }
    expect(await statusOf(account)).toBe("developer active")
  })

  it("follows what happens at Stripe: late payments, trials, a bill that was given up on and paid after all", async () => {
    const { account, subscription } = await payer("pro")
    const steps: ReadonlyArray<readonly [string, string]> = [
      ["past_due", "pro past_due"],
      ["active", "pro active"],
      ["trialing", "pro trialing"],
      ["unpaid", "free canceled"],
      ["active", "pro active"],
      ["paused", "free canceled"],
      ["active", "pro active"],
      ["canceled", "free canceled"]
    ]
    for (const [status, expected] of steps) {
      stripe.change(subscription, { status })
      await send(stripe.events.at(-1) ?? "")
      expect(await statusOf(account), status).toBe(expected)
    }
    // Another one, for the same customer.
    const next = stripe.pay(await checkoutOf(account))
    expect(next.customer).toBe(subscription.customer)
    await send(stripe.events.at(-1) ?? "")
    expect(await statusOf(account)).toBe("developer active")
  })

  it("keeps its plan when the operator has changed the prices", async () => {
    const { account, subscription } = await payer("pro")
    subscription.items.data[0]!.price = { id: "price_of_last_year" }
    stripe.change(subscription, { status: "past_due" })
    await send(stripe.events.at(-1) ?? "")
    expect(await statusOf(account)).toBe("pro past_due")
  })

  it("leaves a plan that the operator granted alone, until it changes itself", async () => {
    const { account, subscription } = await payer()
    await runSql(berth.databaseUrl, "UPDATE users SET plan = 'enterprise' WHERE id = $1", [account.id])
    stripe.change(subscription, { status: "past_due" })
    await send(stripe.events.at(-1) ?? "")
    expect(await statusOf(account)).toBe("enterprise past_due")
    stripe.change(subscription, { status: "canceled" })
    await send(stripe.events.at(-1) ?? "")
    expect(await statusOf(account)).toBe("free canceled")
  })
})

describe("the webhook", () => {
  it("takes only what Stripe signed, to the byte, a few minutes ago at most", async () => {
    const { account, subscription } = await payer()
    stripe.change(subscription, { status: "past_due" })
    const body = stripe.events.at(-1) ?? ""
    const now = Math.floor(berth.now() / 1000)
    const signatures = [
      "",
      "x",
      "t=1,v1=0",
      signatureOf(body, "whsec_of_somebody_else", now),
      signatureOf(body, webhookSecret, now - 600),
      signatureOf(body, webhookSecret, now + 600),
      `t=${now},${signatureOf(body, webhookSecret, now + 600)}`
    ]
    for (const signature of signatures) {
      const answer = await send(body, signature)
      expect([answer.status, answer.body], signature).toEqual([400, failure("bad_request")])
    }
    expect((await send(`${body} `, signatureOf(body, webhookSecret, now))).status).toBe(400)
    expect((await berth.request("POST", "/api/v1/billing/webhook", { body })).status).toBe(400)
    expect((await berth.request("POST", "/api/v1/billing/webhook")).status).toBe(400)
    expect(await statusOf(account)).toBe("developer active")
    // As Stripe sends it: laid out, and with characters that are no ASCII.
    const laidOut = JSON.stringify({ ...JSON.parse(body) as object, note: "Ü ✓" }, undefined, 2)
    expect([(await send(laidOut)).status, await statusOf(account)]).toEqual([200, "developer past_due"])
  })

  it("applies an event once, and asks Stripe no second time", async () => {
    const { subscription } = await payer()
    stripe.change(subscription, { status: "past_due" })
    const body = stripe.events.at(-1) ?? ""
    const many = await callsOf(() => Promise.all(Array.from({ length: 5 }, () => send(body))))
    expect(many.length).toBeLessThanOrEqual(5)
    expect(await callsOf(() => send(body))).toEqual([])
  })

  it("does not mind what is not about us: other customers, other events", async () => {
    for (
      const object of [{}, { customer: "cus_other" }, { customer: null }, { customer: { id: 7 } }, null, "x", [
        { customer: "cus_other" }
      ]]
    ) {
      const body = JSON.stringify({ id: `evt_${JSON.stringify(object).length}`, object: "event", data: { object } })
      expect((await send(body)).status, body).toBe(200)
    }
  })

  it("is sent again what could not be read: 503, and nothing is recorded", async () => {
    const { account, subscription } = await payer()
    stripe.change(subscription, { status: "past_due" })
    const body = stripe.events.at(-1) ?? ""
    stripe.faults.push(500)
    const answer = await send(body)
    expect([answer.status, answer.body]).toEqual([503, failure("service_unavailable")])
    expect(answer.headers.get("retry-after")).toBe("30")
    expect(await statusOf(account)).toBe("developer active")
    expect((await send(body)).status).toBe(200)
    expect(await statusOf(account)).toBe("developer past_due")
  })

  it("an older reading of Stripe's state never replaces a newer one", async () => {
    const { account, subscription } = await payer()
    stripe.change(subscription, { status: "past_due" })
    const [older, newer] = [
      stripe.events.at(-1) ?? "",
      JSON.stringify({ id: "evt_newer", data: { object: { customer: subscription.customer } } })
    ]
    // The first answer is of the state before, and comes after the second one.
    let release = () => {}
    const asked = stripe.asked.length
    stripe.stale = new Promise<void>((done) => void (release = done))
    const slow = send(older)
    await expect.poll(() => stripe.asked.length).toBeGreaterThan(asked)
    stripe.stale = undefined
    stripe.change(subscription, { status: "canceled" })
    expect((await send(newer)).status).toBe(200)
    expect(await statusOf(account)).toBe("free canceled")
    release()
    expect((await slow).status).toBe(200)
    expect(await statusOf(account)).toBe("free canceled")
  })
})

describe("secrets", () => {
  it("are in no line of the log, also when Stripe refuses the key", async () => {
    const account = await berth.signUp()
    stripe.faults.push(401)
    const answer = await subscribe(account)
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("operator has to look at the log")])
    expect(berth.logged.some((line) => /Stripe answered 401/.test(line))).toBe(true)
    const all = berth.logged.join("\n")
    expect(all).not.toContain(secretKey)
    expect(all).not.toContain(webhookSecret)
  })
})

it("a plan in a subscription's metadata beside a price that never was in the settings gives no plan", async () => {
  const account = await berth.signUp()
  const subscription = stripe.pay(await checkoutOf(account, "developer"))
  subscription.items.data[0]!.price = { id: "price_unknown" }
  Object.assign(subscription, { metadata: { accountId: account.id, plan: "enterprise" } })
  const before = berth.logged.length
  await send(stripe.events.at(-1) ?? "")
  expect(await statusOf(account)).toBe("free active")
  expect(berth.logged.splice(before).join("\n")).toContain("has a price that is none of STRIPE_PRICE_*")
  const known = await runSql(berth.databaseUrl, "SELECT id FROM payment_prices", [])
  expect(new Set(known.map(({ id }) => id))).toEqual(new Set(Object.values(prices)))
})
