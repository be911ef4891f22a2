import { monthsAfter } from "#src/billing/embedded-subscription.ts"
import { Duration } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { billingOf, checkoutPath, decideOn, statusOf, subscriber } from "../support/checkout.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { PlainBrowser } from "../support/pages.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()

type Ask = readonly ["POST" | "PATCH" | "DELETE", string, string, Readonly<Record<string, unknown>>?]
const subscribe = (plan: unknown): Ask => ["POST", "/v1/billing/subscribe", "subscribe", { plan }]
const change = (plan: unknown): Ask => ["PATCH", "/v1/billing/plan", "change_plan", { plan }]
const cancel: Ask = ["DELETE", "/v1/billing/subscribe", "cancel_subscription"]

/** What is answered over HTTP, once MCP has answered the same. */
const refusal = async (account: Account, [method, path, tool, body]: Ask) => {
  const answer = await account.request<{ error: { message: string } }>(method, path, { body })
  const client = await connectMcp(berth.url, { token: account.token })
  const called = await callTool(client, tool, body)
  await client.close()
  expect([called.isError, textOf(called)]).toEqual([true, answer.body])
  return `${answer.status} ${answer.body.error.message}`
}

describe("what is refused", () => {
  it("a second subscription, also to a plan that was granted", async () => {
    const payer = await subscriber(berth)
    expect(await refusal(payer, subscribe("developer"))).toMatch(/^409 The account pays for the developer plan already/)
    expect(await refusal(payer, subscribe("pro"))).toMatch(/^409/)
    await payer.delete("/v1/billing/subscribe")
    expect(await refusal(payer, subscribe("pro"))).toMatch(/^409/)
    expect(await refusal(await berth.signUp("pro"), subscribe("pro"))).toMatch(/^409 The account has the pro plan from/)
  })

  it("free, unknown and no plans", async () => {
    const [account, payer] = [await berth.signUp(), await subscriber(berth)]
    for (const plan of ["free", "gold", "", 7, null, ["pro"], "pro\u0000", "__proto__"]) {
      expect(await refusal(account, subscribe(plan)), String(plan)).toMatch(
        /^422 plan: must be one of developer, pro, ent/
      )
      expect(await refusal(payer, change(plan)), String(plan)).toMatch(/^422 plan: must be one of developer, pro, ent/)
    }
    expect(await refusal(account, ["POST", "/v1/billing/subscribe", "subscribe", {}])).toMatch(/^422 plan/)
    expect(await refusal(account, ["POST", "/v1/billing/subscribe", "subscribe", { plan: "pro", price: 0 }]))
      .toMatch(/^422 price/)
    expect(await statusOf(payer)).toBe("developer active")
  })

  it("a switch or a cancellation without a subscription", async () => {
    const account = await berth.signUp()
    for (const asked of [change("pro"), cancel]) {
      expect(await refusal(account, asked)).toMatch(
        /^409 The account is on the free plan: there is no subscription to switch or cancel\. POST .* begins one$/
      )
    }
    const granted = await berth.signUp("enterprise")
    expect(await refusal(granted, change("pro"))).toMatch(/^409 .*its operator granted it/)
    expect(await refusal(granted, cancel)).toMatch(/^409 .*its operator granted it/)
  })

  it("any change by a key; one with billing:read reads", async () => {
    const account = await berth.signUp()
    const { key } = await account.key((await account.project()).id)
    for (const [method, path, , body] of [subscribe("pro"), change("pro"), cancel]) {
      const answer = await berth.request(method, path, { body, token: key })
      expect([answer.status, answer.body]).toEqual([401, failure("UNAUTHORIZED")])
    }
    expect((await berth.request("GET", "/v1/billing", { token: key })).status).toBe(200)
  })

  it("events, because nobody sends any here", async () => {
    const answer = await berth.request("POST", "/api/v1/billing/webhook", { body: { id: "evt_1" } })
    expect([answer.status, answer.body]).toEqual([404, failure("not_found")])
  })
})

describe("the checkout page", () => {
  it("can be left and declined without a payment, and paid afterwards", async () => {
    const account = await berth.signUp()
    const path = await checkoutPath(berth, account, "pro")
    expect(await checkoutPath(berth, account, "pro"), "asked for again it is the same").toBe(path)
    const left = await decideOn(berth, path, "cancel")
    expect(left.answer.status).toBe(303)
    const declined = await decideOn(berth, path, "decline", "late")
    expect([declined.answer.status, declined.answer.text]).toEqual([422, expect.stringContaining("was declined")])
    expect(declined.answer.text).toMatch(/value="late" checked/)
    expect(await statusOf(account)).toBe("free active")
    const paid = await declined.browser.submit({ decision: "pay", renewals: "paid" })
    expect(paid.status).toBe(303)
    expect(await statusOf(account)).toBe("pro active")
    const back = await berth.request("GET", (paid.headers.get("location") ?? "").slice(berth.url.length))
    expect([back.status, back.text]).toEqual([200, expect.stringContaining("You are on the Pro plan")])
    await account.delete("/v1/billing/subscribe")
    const canceled = await berth.request("GET", (paid.headers.get("location") ?? "").slice(berth.url.length))
    expect(canceled.text).toMatch(/The subscription was canceled: the pro plan ends on .*, and the free plan follows\./)
  })

  it("is closed when another plan is chosen, and when its time is over", async () => {
    const account = await berth.signUp()
    const first = await checkoutPath(berth, account, "pro")
    const waiting = new PlainBrowser(berth)
    await waiting.go(first)
    const second = await checkoutPath(berth, account, "developer")
    expect(second).not.toBe(first)
    expect((await waiting.submit({ decision: "pay" })).status).toBe(410)
    expect((await new PlainBrowser(berth).go(first)).status).toBe(410)
    await waiting.go(second)
    expect((await waiting.submit({ decision: "pay", renewals: "<b>" })).status).toBe(303)
    expect(await statusOf(account)).toBe("developer active")
    expect((await new PlainBrowser(berth).request("GET", second)).headers.get("location")).toMatch(
      /\/billing\/return\//
    )
    for (const path of ["/billing/checkout/x", "/billing/checkout/%00", `${second}x`]) {
      expect((await new PlainBrowser(berth).go(path)).status, path).toBe(404)
    }
  })

  it("takes a form only of its own page and visitor", async () => {
    const account = await berth.signUp()
    const path = await checkoutPath(berth, account)
    const [mine, other] = [new PlainBrowser(berth), new PlainBrowser(berth)]
    await mine.go(path)
    await other.go(path)
    const { fields } = mine.form()
    const pay = { ...fields, decision: "pay", renewals: "paid" }
    expect((await other.post(path, pay)).text).toContain("Please decide again")
    expect((await mine.post(path, { decision: "pay" })).text).toContain("Please decide again")
    expect((await mine.post(path, pay, { origin: "https://evil.example" })).status).toBe(403)
    expect(await statusOf(account)).toBe("free active")
    const policy = (await mine.go(path)).headers.get("content-security-policy")
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'.*form-action 'self'/)
  })

  it("takes one payment, however often it is sent", async () => {
    const account = await berth.signUp()
    const path = await checkoutPath(berth, account)
    const browser = new PlainBrowser(berth)
    await browser.go(path)
    const form = browser.form()
    const sent = await Promise.all(
      Array.from({ length: 6 }, () => browser.post(form.action, { ...form.fields, decision: "pay", renewals: "paid" }))
    )
    expect(sent.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 303])
    const [count] = await runSql(
      berth.databaseUrl,
      "SELECT count(*)::int AS count FROM subscriptions WHERE account_id = $1",
      [account.id]
    )
    expect(count).toEqual({ count: 1 })
  })
})

describe("a plan that is paid for", () => {
  it("has its own period: what was used before is no part of it, and a switch of plans begins no other", async () => {
    const account = await berth.signUp()
    const use = (period: string, requests: number) =>
      runSql(
        berth.databaseUrl,
        "INSERT INTO usage (account_id, period, request_count) VALUES ($1, $2, $3)",
        [account.id, period, requests]
      )
    const used = async () => {
      const { currentPeriodEnd, currentPeriodStart, usage } = await billingOf(account)
      const report = dataOf(await account.get<{ data: Record<string, unknown> }>("/v1/billing/usage"))
      expect(report).toMatchObject({ startsAt: currentPeriodStart, resetsAt: currentPeriodEnd, usage })
      expect(report["limits"]).toContainEqual(
        expect.objectContaining({ limit: "requestsPerMonth", used: usage.requestCount })
      )
      return { since: currentPeriodStart, requests: usage.requestCount }
    }
    const month = `${new Date(berth.now()).toISOString().slice(0, 7)}-01T00:00:00.000Z`
    await use(month, 9_000)
    expect(await used()).toEqual({ since: month, requests: 9_000 })
    await decideOn(berth, await checkoutPath(berth, account, "developer"), "pay")
    const { since } = await used()
    expect(Math.abs(berth.now() - Date.parse(since))).toBeLessThan(60_000)
    expect(await used()).toEqual({ since, requests: 0 })
    await use(since, 70)
    await account.patch("/v1/billing/plan", { plan: "pro" })
    expect(await used()).toEqual({ since, requests: 70 })
  })

  it("counts at once: for limits, and for how businesses are listed", async () => {
    const account = await berth.signUp()
    const project = await account.project()
    const business = await newBusiness(account, { projectId: project.id })
    const tierOf = async () =>
      (await runSql(berth.databaseUrl, "SELECT tier FROM listings WHERE id = $1", [business.listingId]))[0]?.["tier"]
    expect(await tierOf()).toBe("basic")
    await decideOn(berth, await checkoutPath(berth, account, "pro"), "pay")
    expect(await tierOf()).toBe("premium")
    await account.server(project.id, { region: "syd", autoStopSeconds: null })
    await account.patch("/v1/billing/plan", { plan: "developer" })
    expect(await tierOf()).toBe("featured")
  })
})

describe("time", () => {
  const days = (count: number) => berth.advance(Duration.toMillis(`${count} days`))
  const eventually = (account: Account, expected: string) =>
    expect.poll(() => (berth.hurry(10_000), statusOf(account)), { timeout: 30_000, interval: 250 }).toBe(expected)
  /** A session ends after a month, and the clock is moved by more. */
  const again = async ({ email, password }: Account): Promise<string> =>
    dataOf(await berth.request<{ data: { token: string } }>("POST", "/v1/auth/login", { body: { email, password } }))
      .token
  const accounts: Record<string, Account> = {}
  const signIn = async () => {
    for (const [name, account] of Object.entries(accounts)) {
      accounts[name] = new Account(berth, await again(account), account)
    }
  }

  beforeAll(async () => {
    for (const renewals of ["paid", "late", "declined", "trial"]) {
      accounts[renewals] = await subscriber(berth, "pro", renewals)
    }
    accounts["canceled"] = await subscriber(berth, "developer")
    await accounts["canceled"].delete("/v1/billing/subscribe")
  })
  const of = (name: string) => accounts[name]!

  it("renews what is paid, makes late what is not, ends what was canceled, and frees the account", async () => {
    const { currentPeriodEnd } = await billingOf(of("paid"))
    const saysOf = async (name: string) =>
      /<p>(You are on .*?) The current period/s.exec((await of(name).get("/billing/usage")).text)?.[1]
    expect(await saysOf("paid")).toMatch(/^You are on the pro plan\. It costs 99 USD a month, and is renewed on /)
    expect(await saysOf("trial")).toMatch(
      /^You are on the pro plan\. This is a trial: from .* it costs 99 USD a month\.$/
    )
    expect(await saysOf("canceled")).toMatch(/The subscription was canceled: the developer plan ends on .* free plan/)
    const server = await of("canceled").server((await of("canceled").project()).id, { region: "syd" })
    expect(await statusOf(of("trial"))).toBe("pro trialing")
    expect(await statusOf(of("canceled"))).toBe("developer active, canceled")
    days(8)
    await eventually(of("trial"), "pro active")
    days(24)
    await signIn()
    await eventually(of("canceled"), "free canceled")
    await eventually(of("late"), "pro past_due")
    await eventually(of("declined"), "pro past_due")
    expect(await saysOf("canceled")).toBe("You are on the free plan: your subscription has ended.")
    expect(await saysOf("late")).toMatch(/ It costs 99 USD a month, and the last payment failed\.$/)
    expect((await of("late").get("/billing/usage")).text).toContain("The payment processor tries again")
    await expect.poll(async () => (berth.hurry(10_000), await billingOf(of("paid"))).currentPeriodEnd, {
      timeout: 30_000
    })
      .toBe(monthsAfter(new Date(currentPeriodEnd), 1).toISOString())
    expect((await of("canceled").get(`/v1/servers/${server.id}`)).status, "nothing is taken away").toBe(200)
    expect(await refusal(of("canceled"), cancel)).toMatch(/^409/)
    days(4)
    await eventually(of("late"), "pro active")
    days(4)
    await eventually(of("declined"), "free canceled")
    expect(await statusOf(of("paid"))).toBe("pro active")
    // And begins anew.
    await decideOn(berth, await checkoutPath(berth, of("canceled"), "pro"), "pay")
    expect(await statusOf(of("canceled"))).toBe("pro active")
  }, 120_000)
})
