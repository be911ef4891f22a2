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
/** An account's read without a key; `admitted` as above. */
const Read = Schema.Struct({ tier: HubTier, day: Schema.String, admitted: Schema.Boolean })
const Best = Schema.Struct({ tier: HubTier })
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
    const best = (userId: string) =>
      sql`SELECT tier FROM hub_keys WHERE user_id = ${userId} AND revoked_at IS NULL
          ORDER BY array_position(ARRAY['partner', 'builder', 'explorer'], tier) LIMIT 1`
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
      ),
      /** The highest tier of the account's active keys. */
      bestTier: maybe(Best)(best),
      /** Counts one read of an account without a key, by its best key's tier, as `consume` does. */
      consumeRead: one(Read)((userId: string, today: string) =>
        sql`WITH best AS (SELECT coalesce((${best(userId)}), 'explorer') AS tier),
            counted AS (
              INSERT INTO hub_account_days AS d (user_id, day, day_count) VALUES (${userId}, ${today}, 1)
              ON CONFLICT (user_id) DO UPDATE SET day = greatest(d.day, excluded.day),
                day_count = CASE WHEN d.day >= excluded.day THEN d.day_count + 1 ELSE 1 END
              WHERE d.day < excluded.day OR d.day_count < (SELECT ${limit} FROM best)
              RETURNING d.day
            )
            SELECT tier, coalesce((SELECT day FROM counted), ${today})::text AS day, EXISTS (SELECT FROM counted) AS admitted
            FROM best`
      )
    } as const
  })
}) {}
