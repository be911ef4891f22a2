import { PlanName, plans } from "#src/plans/Plan.ts"
import { many, one, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { told } from "./told.ts"

/** An increment for an account's rows of a day and its current period. */
export interface UsageDelta {
  readonly accountId: string
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string
  readonly requests: number
  readonly bytes: number
}

/** A wish for some of an account's requests of its period. */
export interface Taking {
  /** The id of the reservation, if it comes to one. */
  readonly id: string
  /** The process that takes. */
  readonly holder: string
  readonly accountId: string
  readonly day: string
  /** The limit a month. */
  readonly allowed: number
  /** Requests that wait. */
  readonly wanted: number
  /** Requests to reserve in advance while there is plenty. */
  readonly block: number
}

const Taken = Schema.Struct({
  granted: Schema.NumberFromString,
  /** Whether they are counted already; else they are reserved, and counted when they are used. */
  counted: Schema.Boolean,
  used: Schema.NumberFromString,
  elsewhere: Schema.NumberFromString,
  /** The end of the period. */
  resetsAt: Schema.DateFromSelf
})

const Usage = Schema.Struct({
  requestCount: Schema.NumberFromString,
  computeSeconds: Schema.NumberFromString,
  bandwidthBytes: Schema.NumberFromString
})

const UsageOfDay = Schema.Struct({ day: Schema.String, ...Usage.fields })

const Period = Schema.Struct({ startsAt: Schema.DateFromSelf, resetsAt: Schema.DateFromSelf, ...Usage.fields })

/** What an account's owner is to be told: percent of the two limits of the period, 0 for nothing new. */
const Reached = Schema.Struct({ accountId: Schema.String, plan: PlanName, requests: Schema.Int, compute: Schema.Int })
const caps = JSON.stringify(
  PlanName.literals.map((plan) => ({
    plan,
    requests: plans[plan].requestsPerMonth,
    seconds: plans[plan].computeSecondsPerMonth
  }))
)

/**
 * The tables of usage, by account and period and by UTC day. A period is the subscription's, else the UTC calendar month
 * (sql/migrations/0030_usage_by_period.ts). Whoever writes locks an account's period before its days, and accounts in the
 * order of their ids, so that no two wait for each other.
 */
export class UsageRepo extends Effect.Service<UsageRepo>()("usage/UsageRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    // The join drops deleted accounts.
    const deltasOf = (deltas: ReadonlyArray<UsageDelta>) =>
      sql`json_to_recordset(${JSON.stringify(deltas)}::json)
        AS d("accountId" text, day date, requests bigint, bytes bigint) JOIN users u ON u.id = d."accountId"`

    return {
      /** Adds what was counted, and gives reservations back: in one transaction, so that nothing counts twice or never. */
      settle: (deltas: ReadonlyArray<UsageDelta>, reservations: ReadonlyArray<string>) =>
        transactionally(sql)(Effect.gen(function*() {
          yield* sql`INSERT INTO usage (account_id, period, request_count, bandwidth_bytes)
            SELECT u.id, usage_period(u.period_start, d.day), sum(d.requests), sum(d.bytes) FROM ${deltasOf(deltas)}
            GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (account_id, period) DO UPDATE SET
              request_count = usage.request_count + excluded.request_count,
              bandwidth_bytes = usage.bandwidth_bytes + excluded.bandwidth_bytes`
          yield* sql`INSERT INTO usage_days (account_id, day, request_count, bandwidth_bytes)
            SELECT u.id, d.day, sum(d.requests), sum(d.bytes) FROM ${deltasOf(deltas)} GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (account_id, day) DO UPDATE SET
              request_count = usage_days.request_count + excluded.request_count,
              bandwidth_bytes = usage_days.bandwidth_bytes + excluded.bandwidth_bytes`
          yield* sql`DELETE FROM usage_reservations
            WHERE id = ANY(${reservations}) OR taken_at < now() - interval '1 hour'`
        })),
      /** Takes requests from what the account's period has left (sql/migrations/0030_usage_by_period.ts). */
      take: one(Taken)(({ accountId, allowed, block, day, holder, id, wanted }: Taking) =>
        sql`SELECT granted::text, counted, used::text, elsewhere::text, resets_at
          FROM usage_take(${id}, ${holder}, ${accountId}, ${day}::date, ${allowed}, ${wanted}, ${block})`
      ),
      /** An account's period on a day, and what is used in it. */
      ofPeriod: one(Period)((accountId: string, day: string) =>
        sql`SELECT usage_period(u.period_start, ${day}::date) AS starts_at,
              usage_period_end(u.period_end, ${day}::date) AS resets_at,
              coalesce(c.request_count, 0)::text AS request_count,
              (coalesce(c.compute_milliseconds, 0) / 1000)::text AS compute_seconds,
              coalesce(c.bandwidth_bytes, 0)::text AS bandwidth_bytes
            FROM users u
            LEFT JOIN usage c ON c.account_id = u.id AND c.period = usage_period(u.period_start, ${day}::date)
            WHERE u.id = ${accountId}`
      ),
      /** Remembers which percent of the limits are reached, and returns those that were not before: each once. */
      reached: many(Reached)(() =>
        sql`WITH now_reached AS (
            SELECT c.account_id, c.period, u.plan, c.requests_told, c.compute_told, requests.percent AS requests,
              compute.percent AS compute
            FROM usage c JOIN users u ON u.id = c.account_id
              JOIN json_to_recordset(${caps}::json) AS cap(plan text, requests bigint, seconds bigint)
                ON cap.plan = u.plan,
              LATERAL (SELECT coalesce(max(t), 0) AS percent FROM unnest(${[...told]}::int[]) t
                WHERE c.request_count * 100 >= cap.requests * t) requests,
              LATERAL (SELECT coalesce(max(t), 0) AS percent FROM unnest(${[...told]}::int[]) t
                WHERE c.compute_milliseconds * 100 >= cap.seconds * 1000 * t) compute
            WHERE c.period = usage_period(u.period_start, (now() AT TIME ZONE 'UTC')::date)
              AND (c.requests_told, c.compute_told) IS DISTINCT FROM (requests.percent, compute.percent)
            ORDER BY c.account_id FOR UPDATE OF c
          )
          UPDATE usage c SET requests_told = r.requests, compute_told = r.compute FROM now_reached r
            WHERE c.account_id = r.account_id AND c.period = r.period
            RETURNING c.account_id, r.plan,
              CASE WHEN r.requests > r.requests_told THEN r.requests ELSE 0 END AS requests,
              CASE WHEN r.compute > r.compute_told THEN r.compute ELSE 0 END AS compute`
      )(),
      /** An account's days that have any usage, from one day to another, the oldest first. */
      daysOf: many(UsageOfDay)((accountId: string, first: string, last: string) =>
        sql`SELECT day::text, request_count::text, (compute_milliseconds / 1000)::text AS compute_seconds,
              bandwidth_bytes::text
            FROM usage_days WHERE account_id = ${accountId} AND day BETWEEN ${first}::date AND ${last}::date
            ORDER BY day`
      )
    } as const
  })
}) {}
