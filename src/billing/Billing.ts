import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { type PlanName, plans } from "#src/plans/Plan.ts"
import { now } from "#src/shared/now.ts"
import { Usage } from "#src/usage/Usage.ts"
import { Effect, Option } from "effect"
import { type Change, type ChangeRefused, Checkout } from "./Checkout.ts"
import { CheckoutsRepo } from "./CheckoutsRepo.ts"
import { Customers } from "./Customers.ts"
import { OpenCheckout } from "./OpenCheckout.ts"
import { currentOf } from "./readings.ts"
import {
  AlreadySubscribed,
  notSetUp,
  NotSubscribed,
  OtherProcessor,
  type PaidPlan,
  PaymentsUnavailable,
  type PlanInput,
  type SubscriptionRow
} from "./Subscription.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"

/**
 * The rules of plans that are paid for (contract: Billing status). Every change of a subscription is made at the
 * processor, and then read back from it (docs/decisions/subscriptions.md).
 */
export class Billing extends Effect.Service<Billing>()("billing/Billing", {
  effect: Effect.gen(function*() {
    const checkout = yield* Checkout
    const checkouts = yield* CheckoutsRepo
    const customers = yield* Customers
    const opening = yield* OpenCheckout
    const repo = yield* SubscriptionsRepo
    const usage = yield* Usage

    /** Free accounts, and those with a granted plan, are `active`. */
    const statusOf = (plan: PlanName, rows: ReadonlyArray<SubscriptionRow>) => {
      const current = currentOf(rows)
      // An account that went back to free is told so until it subscribes again.
      if (current === undefined) return { status: plan === "free" && rows.length > 0 ? "canceled" : "active" } as const
      const { cancelsAt, processor, status } = current
      // Nobody renews those of a processor that is not in use.
      const ends = cancelsAt !== null || processor !== checkout.processor
      return { status, ...(ends ? { cancelAtPeriodEnd: true as const } : {}) }
    }

    const status = Effect.gen(function*() {
      const { accountId } = yield* CurrentActor
      const at = yield* now
      const [plan, rows, { resetsAt, startsAt, ...used }] = yield* Effect.all([
        repo.planOf(accountId),
        repo.ofAccount(accountId),
        usage.current(accountId, at)
      ])
      const { computeSecondsPerMonth, quotas, requestsPerMonth } = plans[plan]
      return {
        plan,
        ...statusOf(plan, rows),
        currentPeriodStart: startsAt,
        currentPeriodEnd: resetsAt,
        usage: used,
        limits: { requestsPerMonth, computeSecondsPerMonth, maxServers: quotas.servers }
      }
    }).pipe(withPolicy(anyScope("billing:read")), Effect.withSpan("Billing.status"))

    const withRenewable = (row: SubscriptionRow | undefined) =>
      row && { ...row, renewable: row.processor === checkout.processor }

    /** The caller's plan, the subscription that it is paid by, and whether there ever was one. */
    const held = Effect.gen(function*() {
      const { accountId } = yield* CurrentActor
      const [plan, rows] = yield* Effect.all([repo.planOf(accountId), repo.ofAccount(accountId)])
      return { plan, current: withRenewable(currentOf(rows)), subscribed: rows.length > 0 }
    }).pipe(withPolicy(anyScope("billing:read")), Effect.withSpan("Billing.held"))

    /** Where to pay for a plan. Called again before it was paid, it returns the same page. */
    const subscribe = Effect.fn("Billing.subscribe")(function*({ plan }: typeof PlanInput.Type) {
      const { accountId } = yield* CurrentActor
      const [has, rows] = yield* Effect.all([repo.planOf(accountId), repo.ofAccount(accountId)])
      if (has !== "free" && currentOf(rows) === undefined) {
        return yield* new AlreadySubscribed({ plan: has, granted: true })
      }
      const { current, customerId } = yield* customers.forCheckout
      if (current !== undefined) return yield* new AlreadySubscribed({ plan: current.plan, granted: false })
      return { url: yield* opening.urlFor({ accountId, customerId, plan }) }
    }, withPolicy(sessionOnly))

    /** The subscription as the processor has it now. */
    const subscription = Effect.gen(function*() {
      const { accountId } = yield* CurrentActor
      const current = yield* customers.current(accountId)
      if (current !== undefined) return current
      const elsewhere = currentOf(yield* repo.ofAccount(accountId))
      return yield* elsewhere === undefined
        ? new NotSubscribed({ plan: yield* repo.planOf(accountId) })
        : new OtherProcessor({ plan: elsewhere.plan, processor: elsewhere.processor })
    })

    /** Makes a change at the processor, and reads what came of it. */
    const change = <E>(
      { id, revision }: SubscriptionRow,
      make: (change: Change) => Effect.Effect<void, E | ChangeRefused>
    ) =>
      Effect.suspend(() => make({ subscriptionId: id, key: `${id}-${revision}` })).pipe(
        // The answer to a failed call is kept for its key: the next call has another one.
        Effect.tapError(() => repo.revise(id)),
        Effect.matchEffect({
          // Refused because it has ended meanwhile, which the reading tells.
          onFailure: (error) => Effect.zipRight(subscription, Effect.fail(error)),
          onSuccess: () => subscription
        }),
        Effect.asVoid
      )

    const refused = ({ reason }: ChangeRefused) =>
      Effect.zipRight(
        Effect.logError(`The payment processor refused a change: ${reason}`),
        new PaymentsUnavailable({
          reason: "The payment processor refused the change; the operator's log has its reason"
        })
      )

    /** Cancels at the end of the period; done already, it stays done. */
    const cancel = Effect.gen(function*() {
      const current = yield* subscription
      if (current.cancelsAt !== null) return
      yield* change(current, checkout.cancel)
    }).pipe(
      // What was played ends with its period as it is. What is paid at Stripe would be charged on.
      Effect.catchTag("OtherProcessor", (other) => other.processor === "embedded" ? Effect.void : other),
      Effect.catchIf((error): error is ChangeRefused => error._tag === "ChangeRefused", refused),
      withPolicy(sessionOnly),
      Effect.withSpan("Billing.cancel")
    )

    /** Switches between paid plans at once, and takes a cancellation back. */
    const switchPlan = Effect.fn("Billing.switchPlan")(
      function*({ plan }: { readonly plan: PaidPlan }) {
        const current = yield* subscription
        if (current.plan === plan && current.cancelsAt === null) return
        yield* change(current, (wanted) => checkout.switchPlan({ ...wanted, plan }))
      },
      Effect.mapError((error) => error._tag === "OtherProcessor" && checkout.processor === "none" ? notSetUp : error),
      Effect.catchIf((error): error is ChangeRefused => error._tag === "ChangeRefused", refused),
      withPolicy(sessionOnly)
    )

    /**
     * After the return from a checkout: the plan that it led to, if it did, or the address where it can be paid still.
     * None for an unknown checkout.
     */
    const returned = Effect.fn("Billing.returned")(function*(checkoutId: string) {
      const found = yield* checkouts.find(checkoutId)
      if (Option.isNone(found)) return Option.none()
      const { accountId, customerId, plan } = found.value
      const read = yield* customers.current(accountId)
      // The checkout may be of a processor that is not in use any more.
      const stored = (yield* repo.ofAccount(accountId)).filter((row) => row.customerId === customerId)
      const current = withRenewable(read ?? currentOf(stored))
      const payAt = current === undefined ? yield* opening.addressToPay(found.value) : null
      return Option.some({ plan, payAt, current })
    })

    return { status, held, subscribe, cancel, switchPlan, returned } as const
  })
}) {}
