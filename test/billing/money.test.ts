import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { statusOf } from "../support/checkout.ts"
import { runSql } from "../support/sql.ts"
import { stripeVariables, useStripe } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))
beforeEach(() => {
  expect(stripe.faults, "every fault of the test before was met").toEqual([])
})

const subscribe = (account: Account, plan = "developer") =>
  account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan })
const sessionIn = (url: string) => url.split("/").at(-1) ?? ""
const checkoutOf = async (account: Account, plan = "developer") => sessionIn(dataOf(await subscribe(account, plan)).url)
const openOf = ({ id }: Account) =>
  [...stripe.sessions.values()].filter(({ client_reference_id, status }) =>
    client_reference_id === id && status === "open"
  )
const customersOf = ({ id }: Account) =>
  [...stripe.customers.values()].filter(({ metadata }) => metadata["accountId"] === id)
const subscriptionsOf = (account: Account) =>
  [...stripe.subscriptions.values()].filter(({ customer }) => customersOf(account).some(({ id }) => id === customer))
const syncOnReturn = async (sessionId: string) => {
  const { success_url } = stripe.sessions.get(sessionId)!
  await berth.request("GET", success_url.slice(berth.url.length))
}

describe("an account never has two checkouts that can be paid", () => {
  it("of many calls at once, for one plan: all get the same page", async () => {
    const account = await berth.signUp()
    const answers = await Promise.all(Array.from({ length: 6 }, () => subscribe(account)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(answers.map(({ body }) => body.data.url)).size).toBe(1)
    expect([openOf(account).length, customersOf(account).length]).toEqual([1, 1])
  })

  it("of many calls at once, for several plans: whoever got a page that is closed is told", async () => {
    const account = await berth.signUp()
    const plans = ["developer", "pro", "enterprise", "developer", "pro", "enterprise"]
    const answers = await Promise.all(plans.map((plan) => subscribe(account, plan)))
    for (const { body, status } of answers) {
      if (status !== 201) expect([status, body]).toEqual([409, failure("CONFLICT")])
    }
    expect(openOf(account).length).toBeLessThanOrEqual(1)
    const id = await checkoutOf(account, "pro")
    expect(openOf(account).map((session) => session.id)).toEqual([id])
  })

  it("after a change of mind: the page before is closed", async () => {
    const account = await berth.signUp()
    const first = await checkoutOf(account)
    const second = await checkoutOf(account, "pro")
    expect(openOf(account).map(({ id }) => id)).toEqual([second])
    expect(() => stripe.pay(first)).toThrow()
  })

  it("after it was paid, though we have not heard of it yet", async () => {
    const account = await berth.signUp()
    stripe.pay(await checkoutOf(account))
    for (const plan of ["developer", "pro"]) {
      expect((await subscribe(account, plan)).status, plan).toBe(409)
    }
    expect([await statusOf(account), subscriptionsOf(account).length]).toEqual(["developer active", 1])
  })

  it("while the first payment is under way: its subscription has not begun", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    const subscription = stripe.pay(id, "incomplete")
    const answer = await subscribe(account, "pro")
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining("was paid just now")])
    expect(openOf(account)).toEqual([])
    stripe.change(subscription, { status: "active" })
    await syncOnReturn(id)
    expect(await statusOf(account)).toBe("developer active")
  })

  it("after hours: the old page is closed by its time, and a new one opened", async () => {
    const account = await berth.signUp()
    const first = await checkoutOf(account)
    berth.advance(2.5 * 60 * 60_000)
    const second = await checkoutOf(account)
    expect(openOf(account).map(({ id }) => id)).toEqual([second])
    berth.advance(4 * 60 * 60_000)
    const third = await checkoutOf(account)
    expect([first, second]).not.toContain(third)
    expect(openOf(account).map(({ id }) => id)).toEqual([third])
  })
})

describe("what fails in the middle", () => {
  it("Stripe made the customer or the session and its answer was lost: the SDK asks again with the same key", async () => {
    const account = await berth.signUp()
    stripe.faults.push("cut")
    const id = await checkoutOf(account)
    expect([customersOf(account).length, openOf(account).map((session) => session.id)]).toEqual([1, [id]])
  })

  it("we ended before the answer was stored: the next call gets the same session", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    await runSql(
      berth.databaseUrl,
      "UPDATE billing_checkouts SET session_id = NULL, url = NULL WHERE account_id = $1",
      [account.id]
    )
    expect(await checkoutOf(account)).toBe(id)
    await runSql(
      berth.databaseUrl,
      "UPDATE billing_checkouts SET session_id = NULL, url = NULL WHERE account_id = $1",
      [account.id]
    )
    const other = await checkoutOf(account, "pro")
    expect(openOf(account).map((session) => session.id), "the lost one is found and closed").toEqual([other])
  })

  it("we ended before the customer was stored: the next call gets the same customer", async () => {
    const account = await berth.signUp()
    stripe.skip = 2
    stripe.faults.push(500)
    expect((await subscribe(account)).status).toBe(503)
    await runSql(berth.databaseUrl, "DELETE FROM billing_customers WHERE account_id = $1", [account.id])
    await checkoutOf(account)
    expect([customersOf(account).length, openOf(account).length]).toEqual([1, 1])
  })

  it("Stripe fails to make the customer: 503 for all who asked, the next call makes one, and no later one a second", async () => {
    const account = await berth.signUp()
    stripe.faults.push(500)
    let release = () => {}
    stripe.held = new Promise<void>((done) => void (release = done))
    const asked = stripe.asked.length
    const calls = Array.from({ length: 3 }, () => subscribe(account))
    await expect.poll(() => stripe.asked.length - asked).toBeGreaterThanOrEqual(calls.length)
    release()
    const answers = await Promise.all(calls)
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    expect((await subscribe(account)).status).toBe(201)
    await runSql(berth.databaseUrl, "DELETE FROM billing_customers WHERE account_id = $1", [account.id])
    expect((await subscribe(account)).status).toBe(201)
    expect(customersOf(account).length).toBe(1)
  })

  it("Stripe made the customer, and no answer came: an hour later it is found again", async () => {
    const account = await berth.signUp()
    // The SDK's own attempts, too.
    stripe.faults.push("cut", "cut", "cut")
    expect((await subscribe(account)).status).toBe(503)
    berth.advance(60 * 60_000)
    expect((await subscribe(account)).status).toBe(201)
    expect(customersOf(account).length).toBe(1)
  })

  it("Stripe fails: 503, and its answer is not kept for the next call", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    stripe.pay(id)
    await syncOnReturn(id)
    for (
      const fail of [
        () => account.delete("/v1/billing/subscribe"),
        () => account.patch("/v1/billing/plan", { plan: "pro" })
      ]
    ) {
      // The reading before the change goes well.
      stripe.skip = 1
      stripe.faults.push(500)
      const failed = await fail()
      expect([failed.status, failed.body]).toEqual([503, failure("SERVICE_UNAVAILABLE")])
      expect((await fail()).status).toBe(204)
    }
    expect([await statusOf(account), subscriptionsOf(account).length]).toEqual(["pro active", 1])
    const other = await berth.signUp()
    await checkoutOf(other)
    stripe.skip = 2
    stripe.faults.push(500)
    expect((await subscribe(other, "pro")).status).toBe(503)
    expect((await subscribe(other, "pro")).status).toBe(201)
    expect(openOf(other).length).toBe(1)
  })

  it("the change was made and we ended before we read it: the next call finds it made", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    const subscription = stripe.pay(id)
    await syncOnReturn(id)
    stripe.skip = 2
    stripe.faults.push(500)
    expect((await account.delete("/v1/billing/subscribe")).status).toBe(503)
    expect(subscription.cancel_at_period_end).toBe(true)
    expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
    expect(await statusOf(account)).toBe("developer active, canceled")
  })

  it("the subscription ended at Stripe meanwhile: 409, and the account is free", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    const subscription = stripe.pay(id)
    await syncOnReturn(id)
    subscription.status = "canceled"
    expect((await account.patch("/v1/billing/plan", { plan: "pro" })).status).toBe(409)
    expect(await statusOf(account)).toBe("free canceled")
  })

  it("the customer was deleted at Stripe: its subscription is over, and the account gets another one", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    const { customer } = stripe.pay(id)
    await syncOnReturn(id)
    stripe.customers.delete(customer)
    expect((await account.delete("/v1/billing/subscribe")).status).toBe(409)
    expect(await statusOf(account)).toBe("free canceled")
    const next = await checkoutOf(account)
    expect(stripe.sessions.get(next)?.customer).not.toBe(customer)
  })
})

describe("two changes at once", () => {
  it("many switches to one plan are one at Stripe, and none is a second subscription", async () => {
    const account = await berth.signUp()
    const id = await checkoutOf(account)
    const subscription = stripe.pay(id)
    await syncOnReturn(id)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => account.patch("/v1/billing/plan", { plan: "pro" }))
    )
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204])
    expect(subscription.items.data.length).toBe(1)
    await Promise.all([account.delete("/v1/billing/subscribe"), account.delete("/v1/billing/subscribe")])
    expect(await statusOf(account)).toBe("pro active, canceled")
  })
})
