import { many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"

/** The public half of an ES256 key as it is published (RFC 7517, RFC 7518 §6.2.1). */
export const PublicJwk = Schema.Struct({
  kty: Schema.Literal("EC"),
  crv: Schema.Literal("P-256"),
  x: Schema.String,
  y: Schema.String,
  kid: Schema.String,
  alg: Schema.Literal("ES256"),
  use: Schema.Literal("sig")
})
export type PublicJwk = typeof PublicJwk.Type

const SigningKeyRow = Schema.Struct({
  kid: Schema.String,
  publicJwk: PublicJwk,
  sealedPrivateJwk: Schema.String,
  /** By the database's clock; it no longer signs. */
  retired: Schema.Boolean
})
export type SigningKeyRow = typeof SigningKeyRow.Type

/** An arbitrary number, which every version of the program must share. */
const lock = 0x62657204

export class SigningKeysRepo extends Effect.Service<SigningKeysRepo>()("oauth/SigningKeysRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    return {
      /** Newest first. */
      // A key is dropped an hour after retiring: by then its tokens (15 minutes) have expired.
      usable: many(SigningKeyRow)(() =>
        sql`SELECT kid, public_jwk, sealed_private_jwk, coalesce(retired_at <= now(), false) AS retired FROM signing_keys
            WHERE retired_at IS NULL OR retired_at > now() - interval '1 hour' ORDER BY created_at DESC, kid`
      )(),
      insert: ({ kid, publicJwk, sealedPrivateJwk }: Omit<SigningKeyRow, "retired">) =>
        run(sql`INSERT INTO signing_keys ${sql.insert({ kid, publicJwk: pg.json(publicJwk), sealedPrivateJwk })}`),
      /** Retires every key but this one after so many seconds; one that retires sooner stays as it is. */
      retireOthers: (kid: string, seconds: number) =>
        run(
          sql`UPDATE signing_keys SET retired_at = least(retired_at, now() + ${seconds} * interval '1 second')
              WHERE kid <> ${kid}`
        ),
      /** Runs in a transaction under a lock that all processes share. */
      exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        transactionally(sql)(Effect.zipRight(sql`SELECT pg_advisory_xact_lock(${lock})`, effect))
    } as const
  })
}) {}
