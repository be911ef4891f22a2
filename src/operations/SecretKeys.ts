import { SettingError } from "#src/config/Settings.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Row = Schema.Struct({ keyId: Schema.String, proof: Schema.NullOr(Schema.String) })
const Sealing = Schema.Struct({ id: Schema.String, keyId: Schema.NullOr(Schema.String) })

/** The context that a key's proof is bound to. */
const contextOf = (keyId: string) => `proof of the secret key ${keyId}`

/**
 * Records the keys that stored secrets are sealed with, and checks them against the configured ones: a wrong
 * `SECRET_KEY` stops the start, instead of failing requests later.
 */
export class SecretKeys extends Effect.Service<SecretKeys>()("operations/SecretKeys", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const { isNew, keyId: current, keySource } = secrets

    const rows = many(Row)(() => sql`SELECT key_id, proof FROM secret_keys ORDER BY added_at FOR UPDATE`)
    const sealing = many(Sealing)(() =>
      sql`SELECT id, key_ids[1] AS key_id FROM hosts WHERE lease_until > clock_timestamp()`
    )

    const wrongKey = (keyId: string) =>
      new SettingError({
        message: `Stored secrets are sealed with the key ${keyId}, but ${
          isNew ? `${keySource} is missing` : `${keySource} is the key ${current}`
        }: set SECRET_KEY to the key ${keyId}, or SECRET_KEY_PREVIOUS to it beside the new one`
      })

    const prove = Effect.fnUntraced(function*({ keyId, proof }: typeof Row.Type) {
      if (!secrets.keyIds.includes(keyId)) return yield* wrongKey(keyId)
      if (proof === null) return
      yield* Effect.mapError(secrets.open(proof, contextOf(keyId)), () => wrongKey(keyId))
    })

    /** Fails unless all stored secrets can be opened; then records the key that seals from now on. */
    const check = Effect.gen(function*() {
      const keys = yield* rows()
      yield* Effect.tapError(Effect.forEach(keys, prove, { discard: true }), () => secrets.forgetNew)
      if (keys.some(({ keyId, proof }) => keyId === current && proof !== null)) return
      const proof = yield* secrets.seal(current, contextOf(current))
      yield* sql`INSERT INTO secret_keys (key_id, proof) VALUES (${current}, ${proof})
        ON CONFLICT (key_id) DO UPDATE SET proof = excluded.proof`
    }).pipe(transactionally(sql), Effect.withSpan("SecretKeys.check"))

    /** For commands: one that seals with a key that the running service doesn't have would break that service. */
    const checkAgainstService = Effect.gen(function*() {
      yield* check
      const [serving] = yield* sealing()
      if (serving === undefined || serving.keyId === current) return
      return yield* new SettingError({
        message: `The berth that serves this installation seals with the key ${serving.keyId}, and ${keySource} is ` +
          `the key ${current}: restart it with this one first`
      })
    }).pipe(Effect.withSpan("SecretKeys.checkBeside"))

    /** Call it after all secrets were moved to the current key. */
    const forgetOthers = run(sql`DELETE FROM secret_keys WHERE key_id <> ${current}`)

    return { check, checkAgainstService, forgetOthers } as const
  })
}) {}
