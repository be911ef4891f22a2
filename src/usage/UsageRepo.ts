import { many, one, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** An increment for an account's rows of a day and its month. */
export interface UsageDelta {
  readonly accountId: string
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string
  readonly requests: number
  readonly bytes: number
}

/** A machine's running time since it was counted last. */
export interface MachineTime {
  readonly serverId: string
  readonly milliseconds: number
}

/** A wish for some of an account's requests of the month. */
export interface Taking {
  /** The id of the reservation, if it comes to one. */
  readonly id: string
  /** The process that takes. */
  readonly holder: string
  readonly accountId: string
  readonly day: string
  /** The month's limit. */
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
  elsewhere: Schema.NumberFromString
})

export const UsageCounts = Schema.Struct({
  requestCount: Schema.Int,
  computeSeconds: Schema.Int,
  bandwidthBytes: Schema.Int
})

const Usage = Schema.Struct({
  requestCount: Schema.NumberFromString,
  computeSeconds: Schema.NumberFromString,
  bandwidthBytes: Schema.NumberFromString
})

const UsageOfDay = Schema.Struct({ day: Schema.String, ...Usage.fields })

/**
 * The tables of usage, by account and UTC month and day. Whoever writes locks an account's month before its days, and
 * accounts in the order of their ids, so that no two wait for each other.
 */
export class UsageRepo extends Effect.Service<UsageRepo>()("usage/UsageRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    // The join drops deleted accounts.
    const deltasOf = (deltas: ReadonlyArray<UsageDelta>) =>
      sql`json_to_recordset(${JSON.stringify(deltas)}::json)
        AS d("accountId" text, day date, requests bigint, bytes bigint) JOIN users u ON u.id = d."accountId"`
    const machinesOf = (ran: ReadonlyArray<MachineTime>) =>
      sql`json_to_recordset(${JSON.stringify(ran)}::json) AS ran("serverId" text, milliseconds bigint)
        JOIN servers s ON s.id = ran."serverId" JOIN projects p ON p.id = s.project_id`

    return {
      /** Adds what was counted, and gives reservations back: in one transaction, so that nothing counts twice or never. */
      settle: (deltas: ReadonlyArray<UsageDelta>, reservations: ReadonlyArray<string>) =>
        transactionally(sql)(Effect.gen(function*() {
          yield* sql`INSERT INTO usage (account_id, month, request_count, bandwidth_bytes)
            SELECT u.id, date_trunc('month', d.day)::date, sum(d.requests), sum(d.bytes) FROM ${deltasOf(deltas)}
            GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (account_id, month) DO UPDATE SET
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
      /** Takes requests from what the account's month has left (sql/migrations/0029_usage_by_day.ts). */
      take: one(Taken)(({ accountId, allowed, block, day, holder, id, wanted }: Taking) =>
        sql`SELECT granted::text, counted, used::text, elsewhere::text
          FROM usage_take(${id}, ${holder}, ${accountId}, ${day}::date, ${allowed}, ${wanted}, ${block})`
      ),
      /** An account's usage in a month. */
      ofMonth: one(Usage)((accountId: string, month: string) =>
        sql`SELECT coalesce(sum(request_count), 0)::text AS request_count,
              (coalesce(sum(compute_milliseconds), 0) / 1000)::bigint::text AS compute_seconds,
              coalesce(sum(bandwidth_bytes), 0)::text AS bandwidth_bytes
            FROM usage WHERE account_id = ${accountId} AND month = ${month}::date`
      ),
      /** An account's days of a month that have any usage, the oldest first. */
      daysOf: many(UsageOfDay)((accountId: string, month: string) =>
        sql`SELECT day::text, request_count::text, (compute_milliseconds / 1000)::text AS compute_seconds,
              bandwidth_bytes::text
            FROM usage_days WHERE account_id = ${accountId} AND day >= ${month}::date
              AND day < ${month}::date + interval '1 month' ORDER BY day`
      ),
      /** Adds the running time of servers' machines to their accounts' day and month (UTC). */
      meter: (ran: ReadonlyArray<MachineTime>) =>
        ran.length === 0 ? Effect.void : transactionally(sql)(Effect.gen(function*() {
          yield* run(sql`INSERT INTO usage (account_id, month, compute_milliseconds)
            SELECT p.account_id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, sum(ran.milliseconds)
            FROM ${machinesOf(ran)} GROUP BY 1 ORDER BY 1
            ON CONFLICT (account_id, month)
            DO UPDATE SET compute_milliseconds = usage.compute_milliseconds + excluded.compute_milliseconds`)
          yield* run(sql`INSERT INTO usage_days (account_id, day, compute_milliseconds)
            SELECT p.account_id, (now() AT TIME ZONE 'UTC')::date, sum(ran.milliseconds)
            FROM ${machinesOf(ran)} GROUP BY 1 ORDER BY 1
            ON CONFLICT (account_id, day)
            DO UPDATE SET compute_milliseconds = usage_days.compute_milliseconds + excluded.compute_milliseconds`)
        }))
    } as const
  })
}) {}
