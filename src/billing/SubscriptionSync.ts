import { AccountSettings } from "#src/accounts/AccountSettings.ts"
import { now } from "#src/shared/now.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Array, Effect, Option } from "effect"
import { Checkout, type CustomerGone, type Reading } from "./Checkout.ts"
import { CheckoutsRepo } from "./CheckoutsRepo.ts"
import { currentOf, planOf, readingOf, rowAfter } from "./readings.ts"
import { states } from "./subscription-states.ts"
import { type PaymentsUnavailable, type SubscriptionRow } from "./Subscription.ts"
import { type BegunReading, SubscriptionsRepo } from "./SubscriptionsRepo.ts"

/**
 * Brings the stored subscriptions of a customer to what the processor has: the only way in which they change. What
 * asks for it (an event, the return from a checkout, a timer, a change of ours) tells when to look, and never what to
 * believe (docs/decisions/subscriptions.md).
 */
export class SubscriptionSync extends Effect.Service<SubscriptionSync>()("billing/SubscriptionSync", {
  effect: Effect.gen(function*() {
    const accounts = yield* AccountSettings
    const checkout = yield* Checkout
    const checkouts = yield* CheckoutsRepo
    const repo = yield* SubscriptionsRepo
    const sql = yield* SqlClient.SqlClient
    const events = yield* PlatformEvents

    /** A subscription that the processor lists no more has ended. */
    const missingFrom = (readings: ReadonlyArray<Reading>, rows: ReadonlyArray<SubscriptionRow>) =>
      rows.filter(({ id, status }) => states[status].hasPlan && !readings.some((reading) => reading.id === id))
        .map((row) => readingOf(row, "ended"))

    const warnOfSeveral = (accountId: string, rows: ReadonlyArray<SubscriptionRow>) => {
      const paying = rows.filter(({ status }) => states[status].hasPlan).map(({ id }) => id)
      return paying.length < 2 ? Effect.void : Effect.logWarning(
        `Account ${accountId} pays for ${paying.length} subscriptions (${paying.join(", ")}); the newest gives the ` +
          "plan. Cancel the others at the processor"
      )
    }

    const store = Effect.fnUntraced(
      function*({ accountId, processor }: BegunReading, customerId: string, readings: ReadonlyArray<Reading>) {
        const at = yield* now
        const all = yield* repo.ofAccount(accountId)
        const [before, others] = Array.partition(all, (row) => row.customerId !== customerId)
        const whose = { accountId, customerId, processor, now: at }
        const rows = Array.empty<SubscriptionRow>()
        for (const reading of [...readings, ...missingFrom(readings, before)]) {
          const row = rowAfter(before.find(({ id }) => id === reading.id), reading, whose)
          if (row !== undefined) rows.push(row)
          else yield* Effect.logError(`Subscription ${reading.id} has a price that is none of STRIPE_PRICE_*`)
        }
        yield* Effect.forEach(rows, (row) => repo.upsert(row, at), { discard: true })
        if (planOf(rows) !== undefined) yield* checkouts.paid(customerId)
        const current = currentOf([...others, ...rows])
        const [had, has] = [planOf(all), current?.plan]
        // Only a change is followed: a plan that the operator granted meanwhile stays.
        if (had !== has) {
          yield* accounts.setPlanOf(accountId, has ?? "free")
          yield* events.tell("planOfAccount", accountId)
        }
        yield* accounts.setPeriodOf(
          accountId,
          current && { start: current.currentPeriodStart, end: current.currentPeriodEnd }
        )
        yield* warnOfSeveral(accountId, rows)
      }
    )

    const apply = Effect.fnUntraced(
      function*(
        customerId: string,
        reading: BegunReading,
        readings: ReadonlyArray<Reading>,
        eventId: string | undefined
      ) {
        const at = yield* now
        const isNew = eventId === undefined || (yield* repo.recordEvent(eventId, at))
        // A newer reading was applied already; it has seen all that this one has.
        if (!isNew || !(yield* repo.claimReading(customerId, reading.begun, at))) return
        yield* store(reading, customerId, readings)
      },
      transactionally(sql)
    )

    const withReading = Effect.fnUntraced(function*<E>(
      customerId: string,
      read: Effect.Effect<ReadonlyArray<Reading>, E>,
      eventId?: string
    ) {
      const begun = yield* repo.beginReading(customerId)
      if (Option.isNone(begun)) return undefined
      yield* apply(customerId, begun.value, yield* read, eventId)
      return currentOf(yield* repo.ofCustomer(customerId))
    })

    /** Asks the processor, and returns the subscription that gives the account its plan. */
    const sync = Effect.fn("SubscriptionSync.sync")(
      (customerId: string, eventId?: string): Effect.Effect<
        SubscriptionRow | undefined,
        PaymentsUnavailable | CustomerGone
      > => withReading(customerId, Effect.suspend(() => checkout.subscriptions(customerId)), eventId)
    )

    /**
     * Without the processor: ends what is canceled at its time; with `due` all whose time has come, with `gone` all,
     * because the processor knows the customer no more.
     */
    const settle = Effect.fn("SubscriptionSync.settle")(function*(
      customerId: string,
      ends: "canceled" | "due" | "gone"
    ) {
      const at = yield* now
      const hasEnded = ({ dueAt }: SubscriptionRow) => ends === "gone" || ends === "due" && dueAt <= at
      const stored = Effect.map(
        repo.ofCustomer(customerId),
        (rows) => rows.map((row) => readingOf(row, hasEnded(row) ? "ended" : undefined))
      )
      if (ends === "gone") yield* Effect.logWarning(`The payment processor knows customer ${customerId} no more`)
      return yield* withReading(customerId, stored)
    })

    return { sync, settle } as const
  })
}) {}
