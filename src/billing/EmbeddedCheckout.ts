import { CurrentSettings } from "#src/config/Settings.ts"
import { newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { Effect, Option } from "effect"
import { type Change, ChangeRefused, Checkout } from "./Checkout.ts"
import { type EmbeddedSubscription, readingAt } from "./embedded-subscription.ts"
import { EmbeddedRepo } from "./EmbeddedRepo.ts"
import { NoWebhook } from "./Subscription.ts"

/** The processor of development: a page of ours where the payment is played (http/pages/checkout.ts). */
export const embeddedCheckout = Effect.gen(function*() {
  const { authUrl } = yield* CurrentSettings
  const repo = yield* EmbeddedRepo

  /** Changes one that has not ended. */
  const change = Effect.fnUntraced(function*(
    { subscriptionId }: Change,
    to: (before: EmbeddedSubscription, at: Date) => Pick<EmbeddedSubscription, "plan" | "cancelsAt">
  ) {
    const at = yield* now
    const found = yield* repo.find(subscriptionId)
    if (Option.isNone(found) || readingAt(found.value, at).event === "ended") {
      return yield* new ChangeRefused({ reason: "The subscription has ended" })
    }
    yield* repo.change(subscriptionId, to(found.value, at))
  })

  const stateOf = Effect.fnUntraced(function*(sessionId: string) {
    const at = yield* now
    const paidFor = Option.getOrUndefined(yield* repo.ofCheckout(sessionId))
    if (paidFor !== undefined) return readingAt(paidFor, at).event === "ended" ? "over" : "paid"
    const found = Option.getOrUndefined(yield* repo.checkout(sessionId))
    return found !== undefined && !found.closed && at < found.expiresAt ? "open" : "over"
  })

  return Checkout.of({
    processor: "embedded",
    createCustomer: () => Effect.sync(() => `cus_embedded_${newUlid()}`),
    open: ({ customerId, expiresAt, id, plan, returnUrl }) =>
      Effect.as(
        repo.insertCheckout({ id, customerId, plan, returnUrl, expiresAt }),
        { sessionId: id, url: `${authUrl}/billing/checkout/${id}` }
      ),
    stateOf,
    close: (sessionId) =>
      Effect.zipRight(repo.close(sessionId), Effect.map(stateOf(sessionId), (state) => state !== "paid")),
    // No event comes that could name one.
    accountOf: () => Effect.succeed(undefined),
    subscriptions: (customerId) =>
      Effect.gen(function*() {
        const at = yield* now
        return (yield* repo.ofCustomer(customerId)).map((subscription) => readingAt(subscription, at))
      }),
    switchPlan: (wanted) => change(wanted, () => ({ plan: wanted.plan, cancelsAt: null })),
    cancel: (wanted) =>
      change(wanted, (before, at) => ({ plan: before.plan, cancelsAt: readingAt(before, at).periodEnd })),
    readEvent: () => new NoWebhook()
  })
})
