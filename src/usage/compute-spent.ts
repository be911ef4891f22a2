import { PlanName, plans } from "#src/plans/Plan.ts"
import { type SqlClient, type Statement } from "@effect/sql"
import { Schema } from "effect"

const caps = JSON.stringify(
  PlanName.literals.map((plan) => ({ plan, seconds: plans[plan].computeSecondsPerMonth }))
)

/** The machine time of an account's period that is used up: the seconds, and when the next period begins. */
export const ComputeSpent = Schema.NullOr(Schema.Struct({ used: Schema.Int, resetsAt: Schema.Date }))

/** `ComputeSpent` of an account, as JSON: null while its plan allows more. */
export const computeSpent = (sql: SqlClient.SqlClient, accountId: Statement.Fragment) =>
  sql`(SELECT json_build_object('used', c.compute_milliseconds / 1000, 'resetsAt', usage_period_end(u.period_end, t.today))
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t, users u
      JOIN json_to_recordset(${caps}::json) AS cap(plan text, seconds bigint) ON cap.plan = u.plan
      JOIN usage c ON c.account_id = u.id AND c.compute_milliseconds >= cap.seconds * 1000
    WHERE u.id = ${accountId} AND c.period = usage_period(u.period_start, t.today))`
