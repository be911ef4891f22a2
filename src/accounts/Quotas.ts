import { type PlanName, type Quota } from "#src/plans/Plan.ts"
import { quotaRefusal } from "#src/plans/PlanLimitReached.ts"
import { run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { CurrentActor } from "./CurrentActor.ts"

/** How much an account may have, by its plan. Every such limit is checked here. */
export class Quotas extends Effect.Service<Quotas>()("billing/Quotas", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    /**
     * Locks the account, so that counts read in this transaction stay true until its end. Rows that only refer to the
     * account can still be written.
     */
    const lock = (accountId: string) => run(sql`SELECT id FROM users WHERE id = ${accountId} FOR NO KEY UPDATE`)

    /** Fails when `used` and `adding` together are more than the plan allows. */
    const check = (plan: PlanName, limit: Quota, used: number, adding: number) =>
      quotaRefusal(plan, limit, used, adding) ?? Effect.void

    return {
      lock,
      check,
      /** Must run in the transaction that adds: of two concurrent requests for the last place, one is refused. */
      admit: <E, R>(limit: Quota, used: Effect.Effect<number, E, R>, adding = 1) =>
        Effect.gen(function*() {
          const { accountId, plan } = yield* CurrentActor
          yield* lock(accountId)
          yield* check(plan, limit, yield* used, adding)
        }).pipe(Effect.withSpan("Quotas.admit"))
    } as const
  })
}) {}
