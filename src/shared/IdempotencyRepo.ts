import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { maybe, run } from "./sql.ts"

const Row = Schema.Struct({
  requestHash: Schema.Uint8ArrayFromSelf,
  locked: Schema.Boolean,
  sealedResponse: Schema.NullOr(Schema.String)
})

const Acquired = Schema.Struct({ checkpoint: Schema.NullOr(Schema.String) })

/** How long a key stays locked without renewal, and how long its response is kept. */
const lockDuration = "60 seconds"
const retention = "24 hours"

export class IdempotencyRepo extends Effect.Service<IdempotencyRepo>()("shared/IdempotencyRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const byKey = (accountId: string, key: string) => sql`account_id = ${accountId} AND key = ${key}`

    // Succeeds for a new key, for an expired response, or when the lock's owner died before there was a response.
    const acquire = (accountId: string, key: string, hash: Uint8Array) =>
      sql`INSERT INTO idempotency_keys (account_id, key, request_hash, locked_until)
          VALUES (${accountId}, ${key}, ${hash}, now() + ${lockDuration}::interval)
          ON CONFLICT (account_id, key) DO UPDATE
            SET request_hash = excluded.request_hash, locked_until = excluded.locked_until,
                sealed_response = NULL, created_at = now(), checkpoint = CASE
                  WHEN idempotency_keys.created_at < now() - ${retention}::interval THEN NULL
                  ELSE idempotency_keys.checkpoint
                END
            WHERE idempotency_keys.created_at < now() - ${retention}::interval
              OR (idempotency_keys.sealed_response IS NULL AND idempotency_keys.locked_until < now()
                  AND idempotency_keys.request_hash = excluded.request_hash)
          RETURNING checkpoint`

    return {
      /** The lock of a key, with the checkpoint of a run whose program ended; none when another has the lock. */
      acquire: maybe(Acquired)(acquire),
      /** Call it in the transaction whose commit it tells of. */
      checkpoint: (accountId: string, key: string, checkpoint: string) =>
        run(sql`UPDATE idempotency_keys SET checkpoint = ${checkpoint} WHERE ${byKey(accountId, key)}`),
      find: maybe(Row)((accountId: string, key: string) =>
        sql`SELECT request_hash, coalesce(locked_until > now(), false) AS locked, sealed_response
            FROM idempotency_keys WHERE ${byKey(accountId, key)}`
      ),
      renew: (accountId: string, key: string) =>
        run(sql`UPDATE idempotency_keys SET locked_until = now() + ${lockDuration}::interval
          WHERE ${byKey(accountId, key)}`),
      finish: (accountId: string, key: string, sealedResponse: string) =>
        run(sql`UPDATE idempotency_keys SET sealed_response = ${sealedResponse}, locked_until = NULL
          WHERE ${byKey(accountId, key)}`),
      /** After a failure: forgets the key, or unlocks it when something was committed. */
      release: (accountId: string, key: string) =>
        run(sql`WITH forgotten AS (
            DELETE FROM idempotency_keys WHERE ${byKey(accountId, key)} AND checkpoint IS NULL
          ) UPDATE idempotency_keys SET locked_until = now() WHERE ${
          byKey(accountId, key)
        } AND checkpoint IS NOT NULL`),
      sweep: run(sql`DELETE FROM idempotency_keys WHERE created_at < now() - ${retention}::interval`)
    } as const
  })
}) {}
