import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { maybe, run } from "./sql.ts"

const Row = Schema.Struct({
  requestHash: Schema.Uint8ArrayFromSelf,
  locked: Schema.Boolean,
  sealedResponse: Schema.NullOr(Schema.String)
})

const Acquired = Schema.Struct({
  checkpoint: Schema.NullOr(Schema.String),
  /** The host whose process runs it; null where none has a lease. */
  hostSession: Schema.NullOr(Schema.String)
})

/** A key that a process has the lock of. */
interface Held extends Pick<typeof Acquired.Type, "hostSession"> {
  readonly accountId: string
  readonly key: string
}

/** How long a key stays locked without renewal, and how long its response is kept. */
const lockDuration = "60 seconds"
const retention = "24 hours"

export class IdempotencyRepo extends Effect.Service<IdempotencyRepo>()("shared/IdempotencyRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const byKey = (accountId: string, key: string) => sql`account_id = ${accountId} AND key = ${key}`

    /** Unless another host has taken over, and with it the key. */
    const byHeld = ({ accountId, hostSession, key }: Held) =>
      sql`${byKey(accountId, key)} AND host_session IS NOT DISTINCT FROM ${hostSession}`

    // Succeeds for a new key, for an expired response, or when the lock's owner died before there was a response: then
    // its host's lease is gone (docs/decisions/host-lease.md), or the lock was not renewed.
    const acquire = (accountId: string, key: string, hash: Uint8Array) =>
      sql`INSERT INTO idempotency_keys (account_id, key, request_hash, locked_until, host_session)
          VALUES (${accountId}, ${key}, ${hash}, now() + ${lockDuration}::interval, (SELECT session FROM hosts LIMIT 1))
          ON CONFLICT (account_id, key) DO UPDATE
            SET request_hash = excluded.request_hash, locked_until = excluded.locked_until,
                host_session = excluded.host_session, sealed_response = NULL, created_at = now(), checkpoint = CASE
                  WHEN idempotency_keys.created_at < now() - ${retention}::interval THEN NULL
                  ELSE idempotency_keys.checkpoint
                END
            WHERE idempotency_keys.created_at < now() - ${retention}::interval
              OR (idempotency_keys.sealed_response IS NULL
                  AND (idempotency_keys.locked_until < now() OR idempotency_keys.host_session IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM hosts WHERE session = idempotency_keys.host_session))
                  AND idempotency_keys.request_hash = excluded.request_hash)
          RETURNING checkpoint, host_session`

    return {
      /** The lock of a key, with the checkpoint of a run whose program ended; none when another has the lock. */
      acquire: maybe(Acquired)(acquire),
      /** Call it in the transaction whose commit it tells of. */
      checkpoint: (held: Held, checkpoint: string) =>
        run(sql`UPDATE idempotency_keys SET checkpoint = ${checkpoint} WHERE ${byHeld(held)}`),
      find: maybe(Row)((accountId: string, key: string) =>
        sql`SELECT request_hash, coalesce(locked_until > now(), false) AS locked, sealed_response
            FROM idempotency_keys WHERE ${byKey(accountId, key)}`
      ),
      renew: (held: Held) =>
        run(sql`UPDATE idempotency_keys SET locked_until = now() + ${lockDuration}::interval WHERE ${byHeld(held)}`),
      finish: (held: Held, sealedResponse: string) =>
        run(sql`UPDATE idempotency_keys SET sealed_response = ${sealedResponse}, locked_until = NULL
          WHERE ${byHeld(held)}`),
      /** After a failure: forgets the key, or unlocks it when something was committed. */
      release: (held: Held) =>
        run(sql`WITH forgotten AS (
            DELETE FROM idempotency_keys WHERE ${byHeld(held)} AND checkpoint IS NULL
          ) UPDATE idempotency_keys SET locked_until = now() WHERE ${byHeld(held)} AND checkpoint IS NOT NULL`),
      sweep: run(sql`DELETE FROM idempotency_keys WHERE created_at < now() - ${retention}::interval`)
    } as const
  })
}) {}
