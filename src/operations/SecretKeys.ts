import { SettingError } from "#src/config/Settings.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Row = Schema.Struct({ keyId: Schema.String, proof: Schema.NullOr(Schema.String) })
const Sealing = Schema.Struct({ id: Schema.String, keyId: Schema.NullOr(Schema.String) })

/** What a key's proof is sealed for. */
const contextOf = (keyId: string) => `proof of the secret key ${keyId}`

/**
 * Which keys stored secrets are sealed with, checked against those at hand: a wrong `SECRET_KEY` stops the start, rather
 * than fail whoever needs a secret.
 */
export class SecretKeys extends Effect.Service<SecretKeys>()("operations/SecretKeys", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const { keyId: current, keySource } = secrets

    const rows = many(Row)(() => sql`SELECT key_id, proof FROM secret_keys ORDER BY added_at FOR UPDATE`)
    const sealing = many(Sealing)(() =>
      sql`SELECT id, key_ids[1] AS key_id FROM hosts WHERE lease_until > clock_timestamp()`
    )

    const wrong = (keyId: string) =>
      new SettingError({
        message: `Stored secrets are sealed with the key ${keyId}, but ${keySource} is the key ${current}: ` +
          `set SECRET_KEY to the key ${keyId}, or SECRET_KEY_PREVIOUS to it beside the new one`
      })

    const prove = Effect.fnUntraced(function*({ keyId, proof }: typeof Row.Type) {
      if (!secrets.keyIds.includes(keyId)) return yield* wrong(keyId)
      if (proof === null) return
      yield* Effect.mapError(secrets.open(proof, contextOf(keyId)), () => wrong(keyId))
    })

    /** Fails unless everything that is stored can be opened; then notes the key that seals from now on. */
    const check = Effect.gen(function*() {
      const known = yield* rows()
      yield* Effect.forEach(known, prove, { discard: true })
      if (known.some(({ keyId, proof }) => keyId === current && proof !== null)) return
      const proof = yield* secrets.seal(current, contextOf(current))
      yield* sql`INSERT INTO secret_keys (key_id, proof) VALUES (${current}, ${proof})
        ON CONFLICT (key_id) DO UPDATE SET proof = excluded.proof`
    }).pipe(transactionally(sql), Effect.withSpan("SecretKeys.check"))

    /** A command that seals, beside a service that could not open it, would break that service. */
    const checkBeside = Effect.gen(function*() {
      yield* check
      const [serving] = yield* sealing()
      if (serving === undefined || serving.keyId === current) return
      return yield* new SettingError({
        message: `The berth that serves this installation seals with the key ${serving.keyId}, and ${keySource} is ` +
          `the key ${current}: restart it with this one first`
      })
    }).pipe(Effect.withSpan("SecretKeys.checkBeside"))

    /** After everything was moved to the current key. */
    const forgetOthers = run(sql`DELETE FROM secret_keys WHERE key_id <> ${current}`)

    return { check, checkBeside, forgetOthers } as const
  })
}) {}
