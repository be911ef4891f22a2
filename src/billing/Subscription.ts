import { AccountId } from "#src/accounts/CurrentActor.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Input, optional, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { SubscriptionStatus } from "./subscription-states.ts"

/** A plan that costs something. */
export const PaidPlan = PlanName.pipe(Schema.pickLiteral("developer", "pro", "enterprise"))
export type PaidPlan = typeof PaidPlan.Type

/** Contract: Platform endpoints, subscribe and plan. `free` is no value: cancel instead. */
export const PlanInput = Input({
  plan: PaidPlan.annotations({ description: "A paid plan; back to free it goes by canceling" })
})

/** Where the user pays. */
export const CheckoutPage = Schema.Struct({
  url: Schema.String.annotations({ description: "The page to send the user to; it stays open for some hours" })
})

const Cap = Schema.NullOr(Schema.Int)

/** Contract: Platform resources, billing status. A null limit means no cap. */
export const BillingStatus = Schema.Struct({
  plan: PlanName,
  status: SubscriptionStatus,
  currentPeriodStart: Timestamp,
  currentPeriodEnd: Timestamp,
  cancelAtPeriodEnd: optional(Schema.Literal(true)).annotations({
    description: "Present when the subscription ends with the period: it was canceled, or is of a payment processor " +
      "that the installation no longer uses"
  }),
  usage: Schema.Struct({ requestCount: Schema.Int, computeSeconds: Schema.Int, bandwidthBytes: Schema.Int }),
  limits: Schema.Struct({ requestsPerMonth: Cap, computeSecondsPerMonth: Cap, maxServers: Cap })
}).annotations({ title: "BillingStatus" })

/** Where subscriptions are paid, or played. */
export const PaidAt = Schema.Literal("stripe", "embedded")

/** A row of subscriptions, with the processor of its customer: it may be another than the one in use. */
export const SubscriptionRow = Schema.Struct({
  id: Schema.String,
  customerId: Schema.String,
  processor: PaidAt,
  accountId: AccountId,
  plan: PaidPlan,
  status: SubscriptionStatus,
  currentPeriodStart: Schema.DateFromSelf,
  currentPeriodEnd: Schema.DateFromSelf,
  /** When it ends, once it was canceled. */
  cancelsAt: Schema.NullOr(Schema.DateFromSelf),
  /** When it changes by time alone. */
  dueAt: Schema.DateFromSelf,
  /** Counts its changes. */
  revision: Schema.Int,
  createdAt: Schema.DateFromSelf
})
export type SubscriptionRow = typeof SubscriptionRow.Type

/** The account has a paid plan already (409). */
export class AlreadySubscribed extends Schema.TaggedError<AlreadySubscribed>()("AlreadySubscribed", {
  plan: PlanName,
  granted: Schema.Boolean
}, failsWith(409)) {
  override get message() {
    return this.granted
      ? `The account has the ${this.plan} plan from the operator, without a subscription`
      : `The account pays for the ${this.plan} plan already; switch with PATCH /v1/billing/plan (the tool change_plan)`
  }
}

/** The account's payment is under way (409). */
export class CheckoutUnderWay extends Schema.TaggedError<CheckoutUnderWay>()("CheckoutUnderWay", {
  paid: Schema.Boolean
}, failsWith(409)) {
  override get message() {
    return this.paid
      ? "A checkout of this account was paid just now, and is being confirmed; read GET /v1/billing shortly"
      : "Another checkout of this account was begun at the same time; use that one, or try again"
  }
}

/** The account has no subscription to change (409). */
export class NotSubscribed extends Schema.TaggedError<NotSubscribed>()("NotSubscribed", {
  plan: PlanName
}, failsWith(409)) {
  override get message() {
    return this.plan === "free"
      ? "The account is on the free plan: there is no subscription to switch or cancel. POST /v1/billing/subscribe (the " +
        "tool subscribe) begins one"
      : `The account has the ${this.plan} plan without a subscription: its operator granted it, and can change it`
  }
}

/** The account's subscription is of a processor that is not in use any more (409). */
export class OtherProcessor extends Schema.TaggedError<OtherProcessor>()("OtherProcessor", {
  plan: PlanName,
  processor: PaidAt
}, failsWith(409)) {
  override get message() {
    return this.processor === "embedded"
      ? `The account's ${this.plan} plan was played in development, and ends with its period; ` +
        "pay for one with POST /v1/billing/subscribe (the tool subscribe)"
      : `The account's ${this.plan} plan was paid at Stripe, which this installation no longer uses: it ends with its ` +
        "period here, and only the operator can cancel it there"
  }
}

/**
 * The payment processor can't be reached, or is not set up (503). A second try after `retryAfter` seconds may help, and
 * charges nothing twice.
 */
export class PaymentsUnavailable extends Schema.TaggedError<PaymentsUnavailable>()("PaymentsUnavailable", {
  reason: Schema.String,
  retryAfter: Schema.optionalWith(Schema.NullOr(Schema.Int), { default: () => 30 })
}, failsWith(503)) {
  override get message() {
    return this.reason
  }
}

export const notSetUp = new PaymentsUnavailable({
  reason: "This installation takes no payments: its operator has to set STRIPE_SECRET_KEY",
  retryAfter: null
})

/** A message to the webhook that the processor did not sign (400). */
export class BadWebhook extends Schema.TaggedError<BadWebhook>()("BadWebhook", {
  reason: Schema.String
}, failsWith(400)) {
  override get message() {
    return this.reason
  }
}

/** The installation's processor sends no events (404). */
export class NoWebhook extends Schema.TaggedError<NoWebhook>()("NoWebhook", {}, failsWith(404)) {
  override get message() {
    return "No payment processor sends events to this installation (STRIPE_SECRET_KEY is not set)"
  }
}
