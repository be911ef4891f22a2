import { AccountId } from "#src/accounts/CurrentActor.ts"
import { prepared } from "#src/format/prepared.ts"
import { HubTier, requestsPerDay } from "#src/plans/HubTier.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { Count, many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { HubKeyRow } from "./HubKey.ts"

/** A key in use; `admitted`: whether its day has room for this request, which then counts. */
const Holder = Schema.Struct({
  id: HubKeyRow.fields.id,
  tier: HubTier,
  day: Schema.String,
  dailyRequestCount: Schema.Int,
  admitted: Schema.Boolean,
  accountId: AccountId,
  email: Schema.String,
  plan: PlanName
})
const State = Schema.Struct({ revoked: Schema.Boolean })

export interface NewHubKey {
  readonly id: string
  readonly userId: string
  readonly keyPrefix: string
  readonly keyHash: Uint8Array
  readonly tier: HubTier
}

/** Days are `YYYY-MM-DD`, UTC. */
export class HubKeysRepo extends Effect.Service<HubKeysRepo>()("hub/HubKeysRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const columns = (today: string) =>
      sql`id, user_id, key_prefix, tier, CASE WHEN day = ${today} THEN day_count ELSE 0 END AS daily_request_count,
        last_request_at, created_at, revoked_at`
    const limit = sql`(CASE tier ${
      sql.join(" ", false)(Object.entries(requestsPerDay).map(([tier, limit]) => sql`WHEN ${tier} THEN ${limit}`))
    } END)::int`

    return {
      /** Locks the account, so that a count in the same transaction stays true until its end. */
      lockAccount: (userId: string) => run(sql`SELECT id FROM users WHERE id = ${userId} FOR NO KEY UPDATE`),
      active: one(Count)((userId: string) =>
        sql`SELECT count(*)::int AS count FROM hub_keys WHERE user_id = ${userId} AND revoked_at IS NULL`
      ),
      insert: one(HubKeyRow)((row: NewHubKey, today: string) =>
        sql`INSERT INTO hub_keys ${sql.insert({ ...row })} RETURNING ${columns(today)}`
      ),
      list: many(HubKeyRow)((userId: string, today: string, count: number) =>
        sql`SELECT ${columns(today)} FROM hub_keys WHERE user_id = ${userId} AND revoked_at IS NULL
            ORDER BY id LIMIT ${count}`
      ),
      /** Revokes a key of the account; tells whether it had been revoked before. */
      revoke: maybe(State)((id: string, userId: string, at: Date) =>
        sql`WITH before AS (SELECT id, revoked_at FROM hub_keys WHERE id = ${id} AND user_id = ${userId} FOR UPDATE),
            revoked AS (UPDATE hub_keys SET revoked_at = ${at}
              WHERE id = (SELECT id FROM before WHERE revoked_at IS NULL))
            SELECT revoked_at IS NOT NULL AS revoked FROM before`
      ),
      /**
       * Counts one request of a key, unless its day is full. One statement: exact whoever asks at the same time. A request
       * that comes behind others of a new day counts in that one.
       */
      consume: maybe(Holder)((keyHash: Uint8Array, today: string, at: Date) =>
        sql`${sql.literal(prepared)} WITH key AS (
              SELECT id, CASE WHEN day >= ${today} THEN day_count ELSE 0 END AS used, greatest(day, ${today}) AS day,
                ${limit} AS allowed
              FROM hub_keys WHERE key_hash = ${keyHash} AND revoked_at IS NULL FOR NO KEY UPDATE
            ), counted AS (
              UPDATE hub_keys k SET day = key.day, day_count = key.used + 1, last_request_at = ${at}
              FROM key WHERE k.id = key.id AND key.used < key.allowed RETURNING k.id
            )
            SELECT k.id, k.tier, key.day::text AS day, least(key.used + 1, key.allowed) AS daily_request_count,
              EXISTS (SELECT FROM counted) AS admitted, u.id AS account_id, u.email, u.plan
            FROM key JOIN hub_keys k ON k.id = key.id JOIN users u ON u.id = k.user_id`
      )
    } as const
  })
}) {}
