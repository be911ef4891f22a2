import { type AccountId } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { now } from "#src/shared/now.ts"
import { randomToken } from "#src/shared/tokens.ts"
import { Duration, Effect, Option } from "effect"
import { Checkout } from "./Checkout.ts"
import { type CheckoutRow, CheckoutsRepo } from "./CheckoutsRepo.ts"
import { currentOf } from "./readings.ts"
import { CheckoutUnderWay, type PaidPlan, PaymentsUnavailable } from "./Subscription.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"

/** Stripe takes half an hour to a day. */
const lifetime = Duration.toMillis("3 hours")
/** Until then it is given out again: an hour is left to pay. */
const reusableFor = Duration.toMillis("2 hours")

interface Wanted {
  readonly accountId: AccountId
  readonly customerId: string
  readonly plan: PaidPlan
}

/**
 * Opens checkouts so that an account never has two that can be paid: a row for the account says which one it is, and is
 * written before the processor is asked; an address is given to a caller only once it is stored there.
 */
export class OpenCheckout extends Effect.Service<OpenCheckout>()("billing/OpenCheckout", {
  effect: Effect.gen(function*() {
    const checkout = yield* Checkout
    const repo = yield* CheckoutsRepo
    const subscriptions = yield* SubscriptionsRepo
    const { authUrl } = yield* CurrentSettings

    const open = ({ accountId, createdAt, customerId, id, plan }: Omit<CheckoutRow, "sessionId" | "url" | "paid">) =>
      checkout.open({
        id,
        accountId,
        customerId,
        plan,
        returnUrl: `${authUrl}/billing/return/${id}`,
        expiresAt: new Date(createdAt.getTime() + lifetime)
      }).pipe(
        // A failed call's answer is kept for its key; another attempt is another row.
        Effect.tapError(() => repo.drop(id)),
        Effect.catchTag(
          "CustomerGone",
          () => new PaymentsUnavailable({ reason: "The payment processor no longer knows the account; try again" })
        )
      )

    const finish = Effect.fnUntraced(function*(row: Parameters<typeof open>[0]) {
      const { sessionId, url } = yield* open(row)
      return (yield* repo.opened(row.id, sessionId, url)) ? url : yield* new CheckoutUnderWay({ paid: false })
    })

    /** The page that was opened before, while it can be paid. It may have been closed at the processor. */
    const again = Effect.fnUntraced(function*(row: CheckoutRow) {
      if (row.sessionId === null || row.url === null) return yield* finish(row)
      const state = yield* checkout.stateOf(row.sessionId)
      if (state === "paid") return yield* new CheckoutUnderWay({ paid: true })
      return state === "open" ? row.url : undefined
    })

    /** Makes sure that nobody can pay the previous one, whose plan or customer is another. */
    const close = Effect.fnUntraced(function*(row: CheckoutRow, age: number, customerId: string) {
      // A customer that is replaced takes its checkouts along: another one is of a processor that is not in use.
      if (row.customerId !== customerId) return
      // It may have been paid since the caller's subscriptions were read. Both are written in one transaction.
      if (row.paid && currentOf(yield* subscriptions.ofCustomer(customerId)) !== undefined) {
        return yield* new CheckoutUnderWay({ paid: true })
      }
      if (row.paid || age >= lifetime) return
      // Where the answer was lost nobody knows the address; asked again, the processor says which session it was.
      const sessionId = row.sessionId ?? (age < reusableFor ? (yield* open(row)).sessionId : undefined)
      if (sessionId !== undefined && !(yield* checkout.close(sessionId))) {
        return yield* new CheckoutUnderWay({ paid: true })
      }
    })

    /** The address where the caller pays. The caller had no subscription when it was last read. */
    const urlFor = Effect.fn("OpenCheckout.urlFor")(function*({ accountId, customerId, plan }: Wanted) {
      const at = yield* now
      const previous = Option.getOrUndefined(yield* repo.ofAccount(accountId))
      const age = previous === undefined ? 0 : at.getTime() - previous.createdAt.getTime()
      if (
        previous !== undefined && previous.plan === plan && previous.customerId === customerId && !previous.paid &&
        age < reusableFor
      ) {
        const url = yield* again(previous)
        if (url !== undefined) return url
      }
      if (previous !== undefined) yield* close(previous, age, customerId)
      const row = { accountId, id: randomToken(), plan, customerId, createdAt: at }
      if (yield* repo.begin(row, previous?.id)) return yield* finish(row)
      const winner = Option.getOrUndefined(yield* repo.ofAccount(accountId))
      return winner?.plan === plan
        ? winner.url ?? (yield* finish(winner))
        : yield* new CheckoutUnderWay({ paid: false })
    })

    /** Where a checkout can still be paid; null where it can't. */
    const addressToPay = Effect.fn("OpenCheckout.addressToPay")(function*(row: CheckoutRow) {
      const age = (yield* now).getTime() - row.createdAt.getTime()
      if (row.paid || age >= lifetime || row.sessionId === null) return null
      return (yield* checkout.stateOf(row.sessionId)) === "open" ? row.url : null
    })

    return { urlFor, addressToPay } as const
  })
}) {}
