import { now } from "#src/shared/now.ts"
import { Duration, Effect } from "effect"
import { Checkout } from "./Checkout.ts"
import { type DueCustomer, SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

const retryAfter = Duration.toMillis("5 minutes")
const readEvery = Duration.toMillis("1 day")
/** Calls of the processor at a time: far below what Stripe takes a second. */
const concurrency = 4
/** So many failed readings, with no other between them, are no customer's fault. */
const manyInARow = 20

const warnOf = (customers: ReadonlyArray<string>) =>
  Effect.logWarning(
    `The subscriptions of ${customers.length === 1 ? "a customer" : `${customers.length} customers`} could not be ` +
      `read, and are tried again with the next run: ${customers.slice(0, 10).join(", ")}` +
      (customers.length > 10 ? ", …" : "")
  )

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

    const readAgain = (id: string) => Effect.catchTag(sync.sync(id), "CustomerGone", () => sync.settle(id, "gone"))

    /**
     * Reads every customer's subscriptions once a day: an event may have been lost. Those that can't be read wait for the
     * next run. It fails when nobody can be read, and asks no more once many in a row could not.
     */
    const reconcile = Effect.gen(function*() {
      const unread = yield* repo.unread(checkout.processor, new Date((yield* now).getTime() - readEvery))
      const failed: Array<string> = []
      let inARow = 0
      const read = ({ id }: { readonly id: string }) =>
        readAgain(id).pipe(
          Effect.tap(() => void (inARow = 0)),
          Effect.catchAllCause((cause) => {
            failed.push(id)
            inARow++
            const isDown = inARow === manyInARow || failed.length === unread.length
            return isDown ? Effect.failCause(cause) : Effect.void
          })
        )
      yield* Effect.forEach(unread, read, { concurrency, discard: true }).pipe(
        Effect.ensuring(Effect.suspend(() => failed.length === 0 ? Effect.void : warnOf(failed)))
      )
    }).pipe(Effect.withSpan("Periods.reconcile"))

    return { passAll, reconcile } as const
  })
}) {}
