import { Effect, Exit, Scope } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { Account, dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { checkoutPath, decideOn, statusOf, subscriber } from "../support/checkout.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { PlainBrowser } from "../support/pages.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { stripeVariables, useStripe } from "../support/stripe.ts"

const stripe = await useStripe()
const byStripe = stripeVariables(stripe.url)
const production = { NODE_ENV: "production" }

/** One installation, started again and again under other settings. */
const installation = async () => {
  const scope = Effect.runSync(Scope.make())
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
  const same = { BERTH_HOME: temporaryDirectory(), SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
  let running: Berth | undefined
  const stop = async () => {
    await running?.stop()
    running = undefined
  }
  onTestFinished(stop)
  return async (variables: Readonly<Record<string, string>>) => {
    await stop()
    running = await new Berth().start({ databaseUrl, variables: { ...same, ...variables } })
    return running
  }
}

const as = (berth: Berth, account: Account) => new Account(berth, account.token, account)
const refusal = async (answer: Promise<{ readonly status: number; readonly body: unknown }>) => {
  const { body, status } = await answer
  return `${status} ${(body as { readonly error: { readonly message: string } }).error.message}`
}
const sessionOf = async (account: Account, plan: string) =>
  dataOf(await account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan })).url.split("/").at(-1) ?? ""
const payAtStripe = async (berth: Berth, account: Account, plan: string) => {
  const id = await sessionOf(account, plan)
  stripe.pay(id)
  await berth.request("GET", stripe.sessions.get(id)!.success_url.slice(berth.url.length))
}

describe("a plan that was played in development", () => {
  it("is not changed in production without a processor, and ends there with its period", async () => {
    const start = await installation()
    const development = await start({})
    const [before, other] = [await subscriber(development, "pro"), await development.signUp()]
    const page = await checkoutPath(development, other)
    const berth = await start(production)
    const account = as(berth, before)
    expect(await statusOf(account)).toBe("pro active, canceled")
    for (const plan of ["enterprise", "pro"]) {
      expect(await refusal(account.patch("/v1/billing/plan", { plan }))).toMatch(/^503 .*takes no payments.*STRIPE_SEC/)
    }
    const refused = await account.post("/v1/billing/subscribe", { plan: "pro" })
    expect([refused.status, refused.headers.get("retry-after")], "trying again does not help").toEqual([503, null])
    for (let time = 0; time < 2; time++) expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
    expect(await statusOf(account)).toBe("pro active, canceled")
    expect((await new PlainBrowser(berth).go(page)).status, "a page that was left open").toBe(404)
    expect(await refusal(as(berth, other).post("/v1/billing/subscribe", { plan: "pro" }))).toMatch(/^503/)
    // A month later.
    await runSql(
      berth.databaseUrl,
      `UPDATE subscriptions SET due_at = due_at - interval '32 days',
        current_period_end = current_period_end - interval '32 days'`
    )
    await expect.poll(() => (berth.hurry(10_000), statusOf(account)), { timeout: 40_000, interval: 250 }).toBe(
      "free canceled"
    )
  }, 100_000)

  it("stays until its period ends once Stripe takes the payments, and another one is paid there meanwhile", async () => {
    const start = await installation()
    const development = await start({})
    const [payer, undecided] = [await development.signUp(), await development.signUp()]
    const { answer } = await decideOn(development, await checkoutPath(development, payer, "pro"), "pay")
    const returnPath = (answer.headers.get("location") ?? "").slice(development.url.length)
    const left = await checkoutPath(development, undecided)
    const berth = await start(byStripe)
    stripe.now = berth.now
    const account = as(berth, payer)
    expect(await statusOf(account)).toBe("pro active, canceled")
    expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
    expect(await refusal(account.patch("/v1/billing/plan", { plan: "developer" })))
      .toMatch(/^409 .*pro plan was played in development, and ends with its period; pay for one with POST/)
    expect((await berth.request("GET", returnPath)).text).toContain("You are on the Pro plan")
    for (const { text } of [await berth.request("GET", returnPath), await account.get("/billing/usage")]) {
      expect(text).toMatch(
        /no longer uses the payment processor of your subscription: the pro plan ends on .* free plan/
      )
    }
    expect((await new PlainBrowser(berth).go(left)).status).toBe(404)
    expect(await sessionOf(as(berth, undecided), "developer"), "in place of a page of before").toMatch(/^cs_/)
    await payAtStripe(berth, account, "developer")
    expect(await statusOf(account)).toBe("developer active")
    const old = await berth.request("GET", returnPath)
    expect([old.status, old.text]).toEqual([404, expect.not.stringContaining("Nothing was paid")])
    expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
    expect([...stripe.subscriptions.values()].at(-1)?.cancel_at_period_end).toBe(true)
  })
})

describe("a plan that is paid at Stripe, where Stripe is not set up any more", () => {
  it.each([
    ["development", {}, /^409 .*only the operator can cancel it there$/],
    ["production", production, /^503 .*takes no payments/]
  ])("is not changed in %s, and whoever cancels is told that Stripe goes on", async (_, variables, change) => {
    const start = await installation()
    const first = await start(byStripe)
    stripe.now = first.now
    const payer = await first.signUp()
    await payAtStripe(first, payer, "pro")
    const berth = await start(variables)
    const account = as(berth, payer)
    expect(await statusOf(account)).toBe("pro active, canceled")
    expect(await refusal(account.patch("/v1/billing/plan", { plan: "enterprise" }))).toMatch(change)
    expect(await refusal(account.delete("/v1/billing/subscribe")))
      .toMatch(/^409 .*pro plan was paid at Stripe.*only the operator can cancel it there$/)
    // And with Stripe again all is as before.
    const again = as(await start(byStripe), payer)
    expect(await statusOf(again)).toBe("pro active")
    expect((await again.delete("/v1/billing/subscribe")).status).toBe(204)
  })
})
