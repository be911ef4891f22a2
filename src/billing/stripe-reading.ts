import { Schema } from "effect"
import { type CheckoutState, type Reading } from "./Checkout.ts"
import { type SessionNow, type StripeSubscription } from "./stripe-answers.ts"
import { type SubscriptionEvent } from "./subscription-states.ts"
import { PaidPlan } from "./Subscription.ts"

/** Price ids of Stripe, by plan. */
export type Prices = Readonly<Record<PaidPlan, string>>

/**
 * What led to each of Stripe's states (docs.stripe.com, "How subscriptions work"). One without an event has not begun.
 * `unpaid` and `paused`: Stripe collects nothing any more.
 */
const events: Readonly<Record<string, SubscriptionEvent>> = {
  trialing: "trialBegan",
  active: "paid",
  past_due: "paymentFailed",
  unpaid: "ended",
  paused: "ended",
  canceled: "ended"
}

const dateOf = (seconds: number) => new Date(seconds * 1000)
const isPaidPlan = Schema.is(PaidPlan)

/**
 * By its price; where the operator has changed the prices since, by the plan that the checkout noted. Beside a price that
 * was never in the settings, another shop of the same Stripe account may have written that plan.
 */
const planOf = (price: string, noted: string | undefined, prices: Prices, former: ReadonlySet<string>) =>
  PaidPlan.literals.find((plan) => prices[plan] === price) ??
    (former.has(price) && isPaidPlan(noted) ? noted : undefined)

/** The item that has a price of ours, else the first. */
export const itemOf = ({ items }: Pick<StripeSubscription, "items">, prices: Prices) =>
  items.data.find(({ price }) => Object.values(prices).includes(price.id)) ?? items.data[0]

/**
 * A subscription of Stripe; undefined before its first payment. The period is that of its item. `former` are prices that
 * were in the settings.
 */
export const readingOfStripe = (
  subscription: StripeSubscription,
  prices: Prices,
  former: ReadonlySet<string>
): Reading | undefined => {
  const event = events[subscription.status]
  const item = itemOf(subscription, prices)
  if (event === undefined || item === undefined) return undefined
  const periodEnd = dateOf(item.current_period_end)
  const { cancel_at, cancel_at_period_end, created, id, metadata } = subscription
  return {
    id,
    plan: planOf(item.price.id, metadata["plan"], prices, former),
    event,
    periodStart: dateOf(item.current_period_start),
    periodEnd,
    cancelsAt: cancel_at === null ? (cancel_at_period_end ? periodEnd : null) : dateOf(cancel_at),
    createdAt: dateOf(created)
  }
}

/** One that was paid is over when its subscription has ended since, or its first payment never came. */
export const stateOfSession = ({ status, subscription }: SessionNow): CheckoutState => {
  if (status === "open") return "open"
  if (status !== "complete") return "over"
  const paidFor = typeof subscription === "object" ? subscription?.status : undefined
  return paidFor === "incomplete_expired" || paidFor !== undefined && events[paidFor] === "ended" ? "over" : "paid"
}
