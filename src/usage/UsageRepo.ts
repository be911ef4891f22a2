import { many, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** An increment for an account's row of a month. */
export interface UsageDelta {
  readonly accountId: string
  /** First day of the UTC month, `YYYY-MM-01`. */
  readonly month: string
  readonly requests: number
  readonly bytes: number
}

const Total = Schema.Struct({
  accountId: Schema.String,
  month: Schema.String,
  requestCount: Schema.NumberFromString
})

const Usage = Schema.Struct({
  requestCount: Schema.NumberFromString,
  computeSeconds: Schema.NumberFromString,
  bandwidthBytes: Schema.NumberFromString
})

/** The table of usage, by account and UTC month. */
export class UsageRepo extends Effect.Service<UsageRepo>()("usage/UsageRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const count = many(Schema.Struct({ requestCount: Schema.NumberFromString }))((accountId: string, month: string) =>
      sql`SELECT request_count::text FROM usage WHERE account_id = ${accountId} AND month = ${month}::date`
    )

    // The join drops deleted accounts. Ordered, so that two gateways can't deadlock.
    const add = many(Total)((deltas: ReadonlyArray<UsageDelta>) =>
      sql`INSERT INTO usage (account_id, month, request_count, bandwidth_bytes)
              SELECT d."accountId", d.month, d.requests, d.bytes
              FROM json_to_recordset(${JSON.stringify(deltas)}::json)
                AS d("accountId" text, month date, requests bigint, bytes bigint)
              JOIN users u ON u.id = d."accountId" ORDER BY d."accountId", d.month
              ON CONFLICT (account_id, month) DO UPDATE SET
                request_count = usage.request_count + excluded.request_count,
                bandwidth_bytes = usage.bandwidth_bytes + excluded.bandwidth_bytes
              RETURNING account_id, month::text, request_count::text`
    )

    return {
      count: (accountId: string, month: string) =>
        Effect.map(count(accountId, month), ([row]) => row?.requestCount ?? 0),
      /** Adds, and returns the new totals, which include what other gateways counted. */
      add,
      /** An account's usage in a month. */
      ofMonth: one(Usage)((accountId: string, month: string) =>
        sql`SELECT coalesce(sum(request_count), 0)::text AS request_count,
              (coalesce(sum(compute_milliseconds), 0) / 1000)::bigint::text AS compute_seconds,
              coalesce(sum(bandwidth_bytes), 0)::text AS bandwidth_bytes
            FROM usage WHERE account_id = ${accountId} AND month = ${month}::date`
      ),
      /** Adds the running time of servers' machines, in milliseconds, to their accounts' month (UTC). */
      meter: (ran: ReadonlyArray<{ readonly serverId: string; readonly milliseconds: number }>) =>
        ran.length === 0 ? Effect.void : run(sql`
          INSERT INTO usage (account_id, month, compute_milliseconds)
          SELECT p.account_id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, sum(ran.milliseconds)
          FROM jsonb_to_recordset(${
          JSON.stringify(ran.map(({ milliseconds, serverId }) => ({ server_id: serverId, milliseconds })))
        }::jsonb) AS ran (server_id text, milliseconds bigint)
          JOIN servers s ON s.id = ran.server_id JOIN projects p ON p.id = s.project_id GROUP BY p.account_id
          ON CONFLICT (account_id, month)
          DO UPDATE SET compute_milliseconds = usage.compute_milliseconds + excluded.compute_milliseconds`)
    } as const
  })
}) {}
