import { now } from "#src/shared/now.ts"
import { Duration, Effect } from "effect"
import { Checkout } from "./Checkout.ts"
import { type DueCustomer, SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

const retryAfter = Duration.toMillis("5 minutes")
const readEvery = Duration.toMillis("1 day")
/** Calls of the processor at a time: far below what Stripe takes a second. */
const concurrency = 4

/**
 * What time alone does to subscriptions. The moment is stored with each (`due_at`), so that no restart loses it: a
 * period that ended while the platform was down ends with its next start.
 */
export class Periods extends Effect.Service<Periods>()("billing/Periods", {
  effect: Effect.gen(function*() {
    const checkout = yield* Checkout
    const repo = yield* SubscriptionsRepo
    const sync = yield* SubscriptionSync

    const postponed = Effect.fnUntraced(function*(customerId: string) {
      // What is canceled ends without the processor, too.
      yield* sync.settle(customerId, "canceled")
      yield* repo.postpone(customerId, new Date((yield* now).getTime() + retryAfter))
    })

    const pass = ({ customerId, processor }: DueCustomer) =>
      // Nobody collects for a processor that is not set up any more: its subscriptions end with their period.
      processor === checkout.processor
        ? sync.sync(customerId).pipe(
          Effect.catchTags({
            CustomerGone: () => sync.settle(customerId, "gone"),
            PaymentsUnavailable: () => postponed(customerId)
          })
        )
        : sync.settle(customerId, "due")

    /** Each customer by itself: one that fails keeps nobody back. */
    const forEachCustomer = <A>(
      customers: ReadonlyArray<A>,
      idOf: (customer: A) => string,
      work: (customer: A) => Effect.Effect<unknown>
    ) =>
      Effect.forEach(
        customers,
        (customer) =>
          Effect.catchAllDefect(work(customer), (defect) =>
            Effect.logWarning(`The subscriptions of customer ${idOf(customer)} could not be read`, defect)),
        { concurrency, discard: true }
      )

    /** Ends or renews what is due. */
    const passAll = Effect.gen(function*() {
      const due = yield* repo.due(yield* now)
      yield* forEachCustomer(due, ({ customerId }) => customerId, pass)
    }).pipe(Effect.withSpan("Periods.passAll"))

    /** Reads every customer's subscriptions once a day: an event may have been lost. Fails while nothing can be read. */
    const reconcile = Effect.gen(function*() {
      const before = new Date((yield* now).getTime() - readEvery)
      for (;;) {
        const unread = yield* repo.unread(checkout.processor, before)
        if (unread.length === 0) return
        yield* Effect.forEach(
          unread,
          ({ id }) => sync.sync(id).pipe(Effect.catchTag("CustomerGone", () => sync.settle(id, "gone"))),
          {
            concurrency,
            discard: true
          }
        )
      }
    }).pipe(Effect.withSpan("Periods.reconcile"))

    return { passAll, reconcile } as const
  })
}) {}
