import { now } from "#src/shared/now.ts"
import { Duration, Effect } from "effect"
import { Checkout } from "./Checkout.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

/** Far longer than a processor sends an event again (Stripe: three days). */
const rememberedFor = Duration.toMillis("90 days")

/** Events that the processor sends to the webhook. */
export class PaymentEvents extends Effect.Service<PaymentEvents>()("billing/PaymentEvents", {
  effect: Effect.gen(function*() {
    const checkout = yield* Checkout
    const repo = yield* SubscriptionsRepo
    const sync = yield* SubscriptionSync

    /**
     * Applies one event. Its body is not believed but for whose it is: the customer's subscriptions are read. When that
     * fails the event is not recorded, and the processor sends it again.
     */
    const receive = Effect.fn("PaymentEvents.receive")(function*(body: string, signature: string | undefined) {
      const { accountId, customerId, id } = yield* checkout.readEvent(body, signature)
      if (customerId === undefined || (yield* repo.isRecorded(id))) return
      // A restored backup may be older than the customer. Whose it is the processor says, and not the event.
      if (
        accountId !== undefined && !(yield* repo.isCustomer(customerId)) &&
        (yield* checkout.accountOf(customerId)) === accountId
      ) {
        yield* repo.addCustomer(accountId, checkout.processor, customerId)
      }
      yield* sync.sync(customerId, id).pipe(
        Effect.catchTag("CustomerGone", () => sync.settle(customerId, "gone"))
      )
    })

    const forget = Effect.flatMap(now, (at) => repo.forgetEvents(new Date(at.getTime() - rememberedFor)))

    return { receive, forget } as const
  })
}) {}
