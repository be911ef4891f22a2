import { AccountSettingsLive } from "#src/accounts/Live.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Jobs } from "#src/jobs/Jobs.ts"
import { Effect, Layer, Option } from "effect"
import { Billing } from "./Billing.ts"
import { Checkout } from "./Checkout.ts"
import { CheckoutsRepo } from "./CheckoutsRepo.ts"
import { Customers } from "./Customers.ts"
import { embeddedCheckout } from "./EmbeddedCheckout.ts"
import { EmbeddedPayments } from "./EmbeddedPayments.ts"
import { EmbeddedRepo } from "./EmbeddedRepo.ts"
import { noCheckout } from "./NoCheckout.ts"
import { OpenCheckout } from "./OpenCheckout.ts"
import { PaymentEvents } from "./PaymentEvents.ts"
import { Periods } from "./Periods.ts"
import { PricesRepo } from "./PricesRepo.ts"
import { stripeCheckout } from "./StripeCheckout.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

/** Stripe when its key is set, else the stand-in; not in production, where it would give plans away. */
const CheckoutLive = Layer.effect(
  Checkout,
  Effect.gen(function*() {
    const { production, stripe } = yield* CurrentSettings
    if (Option.isSome(stripe)) return yield* stripeCheckout(stripe.value)
    return production ? noCheckout : yield* embeddedCheckout
  })
)

export const BillingLive = Layer.mergeAll(
  Billing.Default,
  EmbeddedPayments.Default,
  PaymentEvents.Default,
  Periods.Default
)
  .pipe(
    Layer.provide([OpenCheckout.Default, Customers.Default]),
    Layer.provide(SubscriptionSync.Default),
    Layer.provide(CheckoutLive),
    Layer.provide([
      SubscriptionsRepo.Default,
      PricesRepo.Default,
      CheckoutsRepo.Default,
      EmbeddedRepo.Default,
      AccountSettingsLive
    ])
  )

/** What happens to subscriptions by itself. */
export const BillingJobsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const jobs = yield* Jobs
  const events = yield* PaymentEvents
  const embedded = yield* EmbeddedPayments
  const { passAll, reconcile } = yield* Periods
  const read = Effect.all([events.forget, embedded.forget, reconcile], { discard: true })
  yield* jobs.once("Ending billing periods", "10 seconds", passAll)
  yield* jobs.once("Reading subscriptions again", "1 hour", read, { after: "1 minute" })
}))
