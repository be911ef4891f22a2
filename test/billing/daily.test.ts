import { beforeAll, describe, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { statusOf } from "../support/checkout.ts"
import { runSql } from "../support/sql.ts"
import { prices, stripeVariables, useStripe } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))

const hour = 60 * 60_000
const reads = () => stripe.asked.filter(({ call }) => call === "GET /v1/subscriptions").length

/** Somebody who pays, of whom Stripe sends no event. */
const payer = async () => {
  const account = await berth.signUp()
  const { url } = dataOf(await account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan: "developer" }))
  const id = url.split("/").at(-1) ?? ""
  const subscription = stripe.pay(id)
  await berth.request("GET", stripe.sessions.get(id)!.success_url.slice(berth.url.length))
  expect(await statusOf(account)).toBe("developer active")
  return { account, subscription }
}

describe("once a day", () => {
  it(
    "what changed at Stripe without an event is taken over, and a customer that can't be read keeps nobody back",
    async () => {
      const [late, larger, ended, unread] = [await payer(), await payer(), await payer(), await payer()]
      const states = () => Promise.all([late, larger, ended, unread].map(({ account }) => statusOf(account)))
      const before = await states()
      stripe.change(late.subscription, { status: "past_due" })
      larger.subscription.items.data[0]!.price = { id: prices.pro }
      stripe.change(ended.subscription, { status: "canceled" })
      stripe.change(unread.subscription, { status: "past_due" })

      // The job comes a minute after the start, and then each hour: what was read within a day is not read again.
      const asked = reads()
      berth.advance(23 * hour)
      const hasRun = () =>
        runSql(berth.databaseUrl, "SELECT last_run_at IS NOT NULL AS run FROM jobs WHERE name = $1", [
          "Reading subscriptions again"
        ])
      await expect.poll(() => (berth.hurry(60_000), hasRun()), { timeout: 30_000 }).toEqual([{ run: true }])
      expect([await states(), reads()]).toEqual([before, asked])

      berth.advance(2 * hour)
      stripe.instead = (call) =>
        call.startsWith("GET /v1/subscriptions?") && call.includes(unread.subscription.customer)
          ? { status: 500, text: "{}" }
          : undefined
      await expect.poll(() => (berth.hurry(hour), states()), { timeout: 30_000 })
        .toEqual(["developer past_due", "pro active", "free canceled", "developer active"])
      await expect.poll(() => berth.logged.join("\n"), { timeout: 10_000 })
        .toContain(`tried again with the next run: ${unread.subscription.customer}`)

      stripe.instead = () => undefined
      await expect.poll(() => (berth.hurry(hour), statusOf(unread.account)), { timeout: 30_000 })
        .toBe("developer past_due")
    },
    100_000
  )
})
