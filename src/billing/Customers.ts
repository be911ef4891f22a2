import { type AccountId, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Effect, Option } from "effect"
import { Checkout } from "./Checkout.ts"
import { PaymentsUnavailable, type SubscriptionRow } from "./Subscription.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

/** Accounts as customers of the processor: each has one, which all its checkouts share. */
export class Customers extends Effect.Service<Customers>()("billing/Customers", {
  effect: Effect.gen(function*() {
    const checkout = yield* Checkout
    const repo = yield* SubscriptionsRepo
    const sync = yield* SubscriptionSync

    const find = (accountId: string) =>
      Effect.map(repo.customerOf(accountId, checkout.processor), Option.getOrUndefined)

    /** Makes the account's customer, and reads it back: of two callers at once both get the first one's. */
    const create = Effect.fnUntraced(function*(replaced?: string) {
      const { accountId, email } = yield* CurrentActor
      const failed = yield* repo.failedCustomers(accountId)
      const id = yield* checkout.createCustomer({ accountId, email, failed, replaced }).pipe(
        Effect.catchTag(
          "FailureKept",
          ({ failure }) => Effect.zipRight(repo.customerFailed(accountId, failed + 1), failure)
        )
      )
      yield* replaced === undefined
        ? repo.addCustomer(accountId, checkout.processor, id)
        : repo.replaceCustomer(id, replaced)
      return (yield* find(accountId))?.id ?? id
    })

    /** The subscription of an account as the processor has it now; undefined for none that gives a plan. */
    const current = Effect.fn("Customers.current")(function*(accountId: AccountId) {
      const customer = yield* find(accountId)
      if (customer === undefined) return undefined
      return yield* sync.sync(customer.id).pipe(Effect.catchTag("CustomerGone", () => sync.settle(customer.id, "gone")))
    })

    /** The customer who is about to pay, and the subscription that it has already. */
    const forCheckout = Effect.gen(function*() {
      const { accountId } = yield* CurrentActor
      const customerId = (yield* find(accountId))?.id ?? (yield* create())
      const read = (id: string) =>
        Effect.map(sync.sync(id), (current: SubscriptionRow | undefined) => ({ customerId: id, current }))
      return yield* read(customerId).pipe(
        Effect.catchTag("CustomerGone", () => Effect.flatMap(create(customerId), read)),
        Effect.catchTag(
          "CustomerGone",
          () =>
            new PaymentsUnavailable({
              reason: "The payment processor does not know the customer it has just made; try again"
            })
        )
      )
    }).pipe(Effect.withSpan("Customers.forCheckout"))

    return { current, forCheckout } as const
  })
}) {}
