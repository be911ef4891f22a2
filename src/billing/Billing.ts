import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { Timestamp } from "#src/shared/text.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Clock, Effect, Schema } from "effect"
import { PlanName, plans } from "./Plan.ts"

const Cap = Schema.NullOr(Schema.Int)

/** Contract: "Billing status". A null limit means no cap. */
export const BillingStatus = Schema.Struct({
  plan: PlanName,
  status: Schema.Literal("active", "past_due", "canceled", "trialing"),
  currentPeriodStart: Timestamp,
  currentPeriodEnd: Timestamp,
  usage: Schema.Struct({ requestCount: Schema.Int, computeSeconds: Schema.Int, bandwidthBytes: Schema.Int }),
  limits: Schema.Struct({ requestsPerMonth: Cap, computeSecondsPerMonth: Cap, maxServers: Cap })
}).annotations({ title: "BillingStatus" })

/** The UTC calendar month around a moment: [start, end). */
export const monthOf = (millis: number) => {
  const at = new Date(millis)
  const start = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
  return { start, end: new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)) }
}

const Usage = Schema.Struct({
  requestCount: Schema.NumberFromString,
  computeSeconds: Schema.NumberFromString,
  bandwidthBytes: Schema.NumberFromString
})

/** Plan and usage of the caller's account. Free accounts are `active`, their period the UTC calendar month. */
export class Billing extends Effect.Service<Billing>()("billing/Billing", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const usage = SqlSchema.single({
      Request: Schema.Struct({ accountId: Schema.String, month: Schema.String }),
      Result: Usage,
      execute: ({ accountId, month }) =>
        sql`SELECT coalesce(sum(request_count), 0)::text AS request_count,
              (coalesce(sum(compute_milliseconds), 0) / 1000)::bigint::text AS compute_seconds,
              coalesce(sum(bandwidth_bytes), 0)::text AS bandwidth_bytes
            FROM usage WHERE account_id = ${accountId} AND month = ${month}::date`
    })

    const status = Effect.gen(function*() {
      const { accountId, plan } = yield* CurrentActor
      const { end, start } = monthOf(yield* Clock.currentTimeMillis)
      const { computeSecondsPerMonth, quotas, requestsPerMonth } = plans[plan]
      return {
        plan,
        status: "active" as const,
        currentPeriodStart: start,
        currentPeriodEnd: end,
        usage: yield* dieOnSql(usage({ accountId, month: start.toISOString().slice(0, 10) })),
        limits: { requestsPerMonth, computeSecondsPerMonth, maxServers: quotas.servers }
      }
    }).pipe(withPolicy(anyScope("billing:read")), Effect.withSpan("Billing.status"))

    return { status } as const
  })
}) {}
