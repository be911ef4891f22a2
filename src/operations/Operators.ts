import { Standing } from "#src/businesses/Standing.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

/** What the operator of an installation does by `berth admin`; no door of the service leads here. */
export class Operators extends Effect.Service<Operators>()("operations/Operators", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { followAccount, reviews, setPremium } = yield* Standing

    const putOnPlan = SqlSchema.findAll({
      Request: Schema.Struct({ email: Schema.String, plan: Schema.String }),
      Result: Schema.Struct({ id: Schema.String }),
      execute: ({ email, plan }) => sql`UPDATE users SET plan = ${plan} WHERE email = ${email} RETURNING id`
    })

    /** Puts an account on a plan, whatever it pays; false when there is no such account. */
    const setPlan = Effect.fn("Operators.setPlan")(function*(email: string, plan: PlanName) {
      const accounts = yield* dieOnSql(putOnPlan({ email: email.toLowerCase(), plan }))
      yield* Effect.forEach(accounts, ({ id }) => followAccount(id))
      return accounts.length > 0
    })

    const putVerified = SqlSchema.findAll({
      Request: Schema.Struct({ email: Schema.String, verified: Schema.Boolean }),
      Result: Schema.Struct({ id: Schema.String }),
      execute: ({ email, verified }) =>
        sql`UPDATE users SET email_verified_at = CASE WHEN ${verified} THEN coalesce(email_verified_at, now()) END
            WHERE email = ${email} RETURNING id`
    })

    /** Records that an e-mail address is its user's, or no longer does; false when there is no such account. */
    const setVerified = Effect.fn("Operators.setVerified")(function*(email: string, verified: boolean) {
      return (yield* dieOnSql(putVerified({ email: email.toLowerCase(), verified }))).length > 0
    })

    return { setPlan, setPremium, setVerified, reviews } as const
  })
}) {}
