import { type PlanName } from "#src/billing/Plan.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

/** What the operator of an installation does by `berth admin`; no door of the service leads here. */
export class Operators extends Effect.Service<Operators>()("operations/Operators", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const setPlan = SqlSchema.findAll({
      Request: Schema.Struct({ email: Schema.String, plan: Schema.String }),
      Result: Schema.Struct({ id: Schema.String }),
      execute: ({ email, plan }) => sql`UPDATE users SET plan = ${plan} WHERE email = ${email} RETURNING id`
    })
    return {
      /** Puts an account on a plan, whatever it pays; false when there is no such account. */
      setPlan: (email: string, plan: PlanName) =>
        dieOnSql(Effect.map(setPlan({ email: email.toLowerCase(), plan }), (rows) => rows.length > 0))
    } as const
  })
}) {}
