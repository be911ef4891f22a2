import { Schema } from "effect"

/** Contract: States, billing status. */
export const SubscriptionStatus = Schema.Literal("trialing", "active", "past_due", "canceled")
export type SubscriptionStatus = typeof SubscriptionStatus.Type

/** What moves a subscription. `ended`: also a processor that has given up collecting. */
export const subscriptionEvents = ["trialBegan", "paid", "paymentFailed", "ended"] as const
export type SubscriptionEvent = typeof subscriptionEvents[number]

interface StateRule {
  /** Whether the account has the plan. While a payment is late it has: the processor is still collecting. */
  readonly hasPlan: boolean
  readonly on: Readonly<Record<SubscriptionEvent, SubscriptionStatus>>
}

/**
 * The state machine, the same for every processor. `canceled` can be left: a bill that the processor had given up on
 * may be collected after all. Where a subscription ends depends on its last event alone, because nobody sees them all.
 */
export const states: Readonly<Record<SubscriptionStatus, StateRule>> = {
  trialing: {
    hasPlan: true,
    on: { trialBegan: "trialing", paid: "active", paymentFailed: "past_due", ended: "canceled" }
  },
  active: {
    hasPlan: true,
    on: { trialBegan: "trialing", paid: "active", paymentFailed: "past_due", ended: "canceled" }
  },
  past_due: {
    hasPlan: true,
    on: { trialBegan: "trialing", paid: "active", paymentFailed: "past_due", ended: "canceled" }
  },
  canceled: {
    hasPlan: false,
    on: { trialBegan: "trialing", paid: "active", paymentFailed: "past_due", ended: "canceled" }
  }
}

/** The states of a subscription that is seen for the first time. */
export const firstStates: Readonly<Record<SubscriptionEvent, SubscriptionStatus>> = {
  trialBegan: "trialing",
  paid: "active",
  paymentFailed: "past_due",
  ended: "canceled"
}

/** The event that led to a status: for a subscription that is known by its row alone. */
export const eventsOf: Readonly<Record<SubscriptionStatus, SubscriptionEvent>> = {
  trialing: "trialBegan",
  active: "paid",
  past_due: "paymentFailed",
  canceled: "ended"
}
