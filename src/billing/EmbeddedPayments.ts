import { newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Duration, Effect, Option } from "effect"
import { Checkout } from "./Checkout.ts"
import { type Renewals } from "./embedded-subscription.ts"
import { EmbeddedRepo } from "./EmbeddedRepo.ts"
import { type PaidPlan } from "./Subscription.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

/** What the stand-in's page shows. Whoever has the address may pay, as with a processor's page. */
export interface EmbeddedCheckoutView {
  readonly plan: PaidPlan
  readonly returnUrl: string
  readonly state: "open" | "paid" | "closed"
}

/** A page that nobody can pay any more still says so for so long. */
const keptFor = Duration.toMillis("30 days")

/**
 * What a visitor does on the stand-in's page. Where another processor is in use, or none as in production, there is no
 * such page, also for a checkout that was begun before.
 */
export class EmbeddedPayments extends Effect.Service<EmbeddedPayments>()("billing/EmbeddedPayments", {
  effect: Effect.gen(function*() {
    const inUse = (yield* Checkout).processor === "embedded"
    const repo = yield* EmbeddedRepo
    const sql = yield* SqlClient.SqlClient
    const sync = yield* SubscriptionSync

    const checkoutOf = (id: string) => inUse ? repo.checkout(id) : Effect.succeedNone

    const find = Effect.fn("EmbeddedPayments.find")(function*(id: string) {
      const found = yield* checkoutOf(id)
      if (Option.isNone(found)) return undefined
      const { closed, expiresAt, plan, returnUrl } = found.value
      const at = yield* now
      const open = !closed && at < expiresAt
      const state = open ? "open" : (yield* repo.isPaid(id)) ? "paid" : "closed"
      return { plan, returnUrl, state } as const satisfies EmbeddedCheckoutView
    })

    /** Of two payments at once, or a payment and a close, the first wins. */
    const take = Effect.fnUntraced(function*(id: string, renewals: Renewals) {
      const at = yield* now
      const found = yield* checkoutOf(id)
      if (Option.isNone(found) || at >= found.value.expiresAt || !(yield* repo.close(id))) return undefined
      const { customerId, plan } = found.value
      yield* repo.subscribe({
        id: `sub_embedded_${newUlid()}`,
        checkoutId: id,
        customerId,
        plan,
        startedAt: at,
        renewals
      })
      return customerId
    })

    /** Pays an open checkout; without effect on any other. */
    const pay = Effect.fn("EmbeddedPayments.pay")(function*(id: string, renewals: Renewals) {
      const customerId = yield* take(id, renewals)
      // A processor would send an event now, and again until it is heard: here both happen, or neither.
      if (customerId !== undefined) yield* Effect.orDie(sync.sync(customerId))
    }, transactionally(sql))

    const forget = Effect.flatMap(now, (at) => repo.forgetCheckouts(new Date(at.getTime() - keptFor)))

    return { find, pay, forget } as const
  })
}) {}
