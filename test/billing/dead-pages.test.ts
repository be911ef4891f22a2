import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { stripeVariables, useStripe } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))

const subscribe = (account: Account, plan = "developer") =>
  account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan })
const checkoutOf = async (account: Account, plan = "developer") =>
  dataOf(await subscribe(account, plan)).url.split("/").at(-1) ?? ""
const openOf = ({ id }: Account) =>
  [...stripe.sessions.values()].filter(({ client_reference_id, status }) =>
    client_reference_id === id && status === "open"
  )

describe("a checkout page that can't be paid any more is not given out again", () => {
  it("that was closed at Stripe: the next call opens another, and no page leads back to it", async () => {
    for (const plan of ["developer", "pro"]) {
      const account = await berth.signUp()
      const first = await checkoutOf(account)
      const session = stripe.sessions.get(first)!
      const back = async () => (await berth.request("GET", session.cancel_url.slice(berth.url.length))).text
      expect(await back()).toContain("Back to the payment")
      session.status = "expired"
      expect(await back()).toContain("The payment page is closed")
      const second = await checkoutOf(account, plan)
      expect(openOf(account).map(({ id }) => id), plan).toEqual([second])
    }
  })

  it("whose first payment never came: the next call opens another, and none before that", async () => {
    for (const plan of ["developer", "pro"]) {
      const account = await berth.signUp()
      const subscription = stripe.pay(await checkoutOf(account), "incomplete")
      const early = await subscribe(account, plan)
      expect([early.status, early.text], plan).toEqual([409, expect.stringContaining("was paid just now")])
      stripe.change(subscription, { status: "incomplete_expired" })
      const id = await checkoutOf(account, plan)
      expect(openOf(account).map((session) => session.id), plan).toEqual([id])
    }
  })
})
