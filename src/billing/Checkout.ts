import { type AccountId } from "#src/accounts/CurrentActor.ts"
import { Context, Data, type Effect } from "effect"
import { type SubscriptionEvent } from "./subscription-states.ts"
import { type BadWebhook, type NoWebhook, type PaidPlan, type PaymentsUnavailable } from "./Subscription.ts"

/** `none`: production where none is set up. */
export type Processor = "stripe" | "embedded" | "none"

/** A subscription as the processor has it at one moment. */
export interface Reading {
  readonly id: string
  /** Undefined where its price is none of ours. */
  readonly plan: PaidPlan | undefined
  /** What led to its present state. */
  readonly event: SubscriptionEvent
  readonly periodStart: Date
  readonly periodEnd: Date
  /** When it ends, once it was canceled. */
  readonly cancelsAt: Date | null
  /** When it changes by time alone, where that is before the end of its period. */
  readonly dueAt?: Date
  readonly createdAt: Date
}

export interface CustomerRequest {
  readonly accountId: AccountId
  readonly email: string
  /** The id that it had, and that is gone. */
  readonly replaced: string | undefined
  /** How often it has failed before. */
  readonly failed: number
}

export interface CheckoutRequest {
  /** Ours: asked for again with the same id, the processor opens no second checkout. */
  readonly id: string
  readonly accountId: AccountId
  readonly customerId: string
  readonly plan: PaidPlan
  readonly returnUrl: string
  readonly expiresAt: Date
}

/** `key`: with the same one, a change is made once (the processor's idempotency key). */
export interface Change {
  readonly subscriptionId: string
  readonly key: string
}

/** `open`: it can be paid. `paid`: and its subscription lives, or is about to. `over`: nobody can pay it any more. */
export type CheckoutState = "open" | "paid" | "over"

export interface ProcessorEvent {
  readonly id: string
  /** Undefined for an event that is not about subscriptions. */
  readonly customerId: string | undefined
  /** The account that it names. A buyer may have chosen it (Stripe's payment links): it is only a hint. */
  readonly accountId: string | undefined
}

/** The processor does not know the customer: deleted there, or of another of its accounts. */
export class CustomerGone extends Data.TaggedError("CustomerGone") {}

/** The processor has answered a call with a failure, and answers the same call so again: another one has to be made. */
export class FailureKept extends Data.TaggedError("FailureKept")<{ readonly failure: PaymentsUnavailable }> {}

/** The processor refuses a change, because the subscription is no longer what it was. */
export class ChangeRefused extends Data.TaggedError("ChangeRefused")<{ readonly reason: string }> {}

/** A payment processor: takes the money, and says what was paid. All rules are above it. */
export class Checkout extends Context.Tag("billing/Checkout")<Checkout, {
  readonly processor: Processor
  /** The id of a customer for the account: the same one for the same request. */
  readonly createCustomer: (request: CustomerRequest) => Effect.Effect<string, PaymentsUnavailable | FailureKept>
  /** Opens the page where a subscription is paid. */
  readonly open: (
    request: CheckoutRequest
  ) => Effect.Effect<{ readonly sessionId: string; readonly url: string }, PaymentsUnavailable | CustomerGone>
  readonly stateOf: (sessionId: string) => Effect.Effect<CheckoutState, PaymentsUnavailable>
  /** Closes it, so that it can't be paid any more; false when it is `paid` already. */
  readonly close: (sessionId: string) => Effect.Effect<boolean, PaymentsUnavailable>
  /** The account that we made the customer for; undefined for a customer of somebody else. */
  readonly accountOf: (customerId: string) => Effect.Effect<string | undefined, PaymentsUnavailable>
  /** All subscriptions that the customer ever had. */
  readonly subscriptions: (
    customerId: string
  ) => Effect.Effect<ReadonlyArray<Reading>, PaymentsUnavailable | CustomerGone>
  /** Changes the plan at once, with proration, and takes a cancellation back. */
  readonly switchPlan: (
    change: Change & { readonly plan: PaidPlan }
  ) => Effect.Effect<void, PaymentsUnavailable | ChangeRefused>
  /** Cancels at the end of the period. */
  readonly cancel: (change: Change) => Effect.Effect<void, PaymentsUnavailable | ChangeRefused>
  /** Reads a message to the webhook: its bytes as text, and the header with its signature. */
  readonly readEvent: (
    body: string,
    signature: string | undefined
  ) => Effect.Effect<ProcessorEvent, BadWebhook | NoWebhook>
}>() {}
