import { type StripeSettings } from "#src/config/Settings.ts"
import { now } from "#src/shared/now.ts"
import { Effect, Option, Redacted, Schema } from "effect"
import { ChangeRefused, Checkout, CustomerGone, FailureKept } from "./Checkout.ts"
import { PricesRepo } from "./PricesRepo.ts"
import { ClosedSession, CustomerNow, Made, OpenedSession, SessionNow, StripeSubscription } from "./stripe-answers.ts"
import { stripeClient, type StripeFailure } from "./stripe-client.ts"
import { eventIn } from "./stripe-event.ts"
import { itemOf, readingOfStripe, stateOfSession } from "./stripe-reading.ts"
import { BadWebhook, PaymentsUnavailable } from "./Subscription.ts"

/** Every subscription that a customer ever had; nobody has as many. */
const allOfThem = { limit: 1000 } as const

/** What Stripe's libraries tolerate. */
const toleratedSeconds = 300

/** Stripe's library refuses only old signatures. One from the future would be valid for longer than five minutes. */
const isTimely = (header: string, at: Date) =>
  [...header.matchAll(/\bt=(\d+)/g)].every(([, seconds]) => Number(seconds) <= at.getTime() / 1000 + toleratedSeconds)

const badSignature = new BadWebhook({
  reason: "The signature (Stripe-Signature) does not fit the body: it must be of this endpoint's secret, and at most " +
    "five minutes old or ahead"
})

/**
 * Whether it is about the call itself. One that was not run, because another one with its key is under way or there are
 * too many, is run when it is made again (docs.stripe.com, "Idempotent requests").
 */
const isAnswer = (status: number | undefined): status is number =>
  status !== undefined && status !== 409 && status !== 429

/** What the operator has to know; callers are told less. */
const unavailable = (failure: StripeFailure) => {
  const { code, message, status } = failure
  const answer = status === undefined
    ? "gave no usable answer"
    : `answered ${status}${code === undefined ? "" : ` ${code}`}`
  // These are about the key, the prices or a call of ours, and don't pass by themselves.
  const isOurs = isAnswer(status) && status >= 400 && status < 500
  return Effect.zipRight(
    (isOurs ? Effect.logError : Effect.logWarning)(
      `Stripe ${answer}: ${message}${isOurs ? " (see STRIPE_SECRET_KEY and STRIPE_PRICE_* in docs/operate.md)" : ""}`
    ),
    new PaymentsUnavailable({
      reason: isOurs
        ? "The payment processor refuses this installation's requests; its operator has to look at the log"
        : "The payment processor can't be reached; try again shortly"
    })
  )
}

const isMissing = ({ code, param }: StripeFailure, name: string) => code === "resource_missing" && param === name

/** Stripe, by its own pages and its API. */
export const stripeCheckout = (settings: StripeSettings) =>
  Effect.gen(function*() {
    const { client, use } = yield* stripeClient(settings)
    const { prices, webhookSecret } = settings
    const former = yield* (yield* PricesRepo).note(Object.values(prices))

    const isSigned = Option.liftThrowable((body: string, header: string) =>
      client.webhooks.signature?.verifyHeader(body, header, Redacted.value(webhookSecret), toleratedSeconds) === true
    )

    const stateOf = (sessionId: string) =>
      Effect.map(
        use(
          SessionNow,
          (stripe) => stripe.checkout.sessions.retrieve(sessionId, { expand: ["subscription"] })
        ),
        stateOfSession
      )

    const orGone = (failure: StripeFailure): Effect.Effect<never, PaymentsUnavailable | CustomerGone> =>
      isMissing(failure, "customer") ? Effect.fail(new CustomerGone()) : unavailable(failure)

    const orRefused = (failure: StripeFailure): Effect.Effect<never, PaymentsUnavailable | ChangeRefused> =>
      failure.status === 404 || failure.status === 400
        ? Effect.fail(new ChangeRefused({ reason: failure.message }))
        : unavailable(failure)

    return Checkout.of({
      processor: "stripe",
      createCustomer: ({ accountId, email, failed, replaced = "" }) =>
        use(Made, (stripe) =>
          stripe.customers.create({ email, metadata: { accountId } }, {
            idempotencyKey: `customer-${accountId}-${replaced}-${failed}`
          })).pipe(
            Effect.map(({ id }) => id),
            // Without an answer the customer may be made: the same call tells.
            Effect.catchAll((failure) =>
              Effect.mapError(
                unavailable(failure),
                (told) => isAnswer(failure.status) ? new FailureKept({ failure: told }) : told
              )
            )
          ),
      open: ({ accountId, customerId, expiresAt, id, plan, returnUrl }) =>
        use(OpenedSession, (stripe) =>
          stripe.checkout.sessions.create({
            mode: "subscription",
            customer: customerId,
            client_reference_id: accountId,
            line_items: [{ price: prices[plan], quantity: 1 }],
            success_url: returnUrl,
            cancel_url: `${returnUrl}?canceled`,
            expires_at: Math.floor(expiresAt.getTime() / 1000),
            subscription_data: { metadata: { accountId, plan } }
          }, { idempotencyKey: `checkout-${id}` })).pipe(
            Effect.catchAll(orGone),
            Effect.flatMap(({ id, url }) =>
              url === null
                ? new PaymentsUnavailable({ reason: "The payment processor opened no page; try again" })
                : Effect.succeed({ sessionId: id, url })
            )
          ),
      stateOf: (sessionId) =>
        stateOf(sessionId).pipe(
          Effect.catchAll((failure) =>
            failure.code === "resource_missing" ? Effect.succeed("over" as const) : unavailable(failure)
          )
        ),
      close: (sessionId) =>
        use(ClosedSession, (stripe) => stripe.checkout.sessions.expire(sessionId)).pipe(
          Effect.as(true),
          // It is not open any more: paid, or expired by itself.
          Effect.catchAll((failure) =>
            Effect.flatMap(
              stateOf(sessionId),
              (state) => state === "open" ? Effect.fail(failure) : Effect.succeed(state === "over")
            )
          ),
          Effect.catchAll(unavailable)
        ),
      accountOf: (customerId) =>
        use(CustomerNow, (stripe) => stripe.customers.retrieve(customerId)).pipe(
          Effect.map(({ metadata }) => metadata?.["accountId"]),
          Effect.catchAll((failure) =>
            failure.code === "resource_missing" ? Effect.succeed(undefined) : unavailable(failure)
          )
        ),
      subscriptions: (customer) =>
        use(
          Schema.Array(StripeSubscription),
          (stripe) => stripe.subscriptions.list({ customer, status: "all", limit: 100 }).autoPagingToArray(allOfThem)
        ).pipe(
          Effect.map((all) => all.flatMap((each) => readingOfStripe(each, prices, former) ?? [])),
          Effect.catchAll(orGone)
        ),
      switchPlan: ({ key, plan, subscriptionId }) =>
        use(StripeSubscription, (stripe) => stripe.subscriptions.retrieve(subscriptionId)).pipe(
          Effect.flatMap((subscription) => {
            const item = itemOf(subscription, prices)
            return use(Schema.Unknown, (stripe) =>
              stripe.subscriptions.update(subscriptionId, {
                items: [{ ...(item === undefined ? {} : { id: item.id }), price: prices[plan] }],
                proration_behavior: "create_prorations",
                // Stripe takes one of the two: the one by which the cancellation was made.
                ...(subscription.cancel_at !== null && !subscription.cancel_at_period_end
                  ? { cancel_at: "" as const }
                  : { cancel_at_period_end: false }),
                metadata: { plan }
              }, { idempotencyKey: `switch-${key}-${plan}` }))
          }),
          Effect.asVoid,
          Effect.catchAll(orRefused)
        ),
      cancel: ({ key, subscriptionId }) =>
        use(Schema.Unknown, (stripe) =>
          stripe.subscriptions.update(subscriptionId, { cancel_at_period_end: true }, {
            idempotencyKey: `cancel-${key}`
          })).pipe(Effect.asVoid, Effect.catchAll(orRefused)),
      readEvent: (body, signature = "") =>
        Effect.flatMap(now, (at) =>
          isTimely(signature, at) && Option.contains(isSigned(body, signature), true) ? eventIn(body) : badSignature)
    })
  })
