import { AccountSettings } from "#src/accounts/AccountSettings.ts"
import { Standing } from "#src/businesses/Standing.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"

/** The operator's actions for `berth admin`. Neither the HTTP API nor MCP exposes them. */
export class Operators extends Effect.Service<Operators>()("operations/Operators", {
  effect: Effect.gen(function*() {
    const accounts = yield* AccountSettings
    const sql = yield* SqlClient.SqlClient
    const { followAccount, reviews, setPremium } = yield* Standing

    /**
     * Puts an account on a plan, with the tier of its listings, independent of payment; false when there is no such
     * account.
     */
    const setPlan = Effect.fn("Operators.setPlan")(function*(email: string, plan: PlanName) {
      const account = yield* accounts.setPlan(email, plan)
      if (Option.isSome(account)) yield* followAccount(account.value)
      return Option.isSome(account)
    }, transactionally(sql))

    /** Marks an e-mail address as verified or not; false when there is no such account. */
    const setVerified = Effect.fn("Operators.setVerified")((email: string, verified: boolean) =>
      Effect.map(accounts.setVerified(email, verified), Option.isSome)
    )

    return { setPlan, setPremium, setVerified, reviews } as const
  })
}) {}
