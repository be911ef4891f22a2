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
  /** By the database's clock: it signs no more. */
  retired: Schema.Boolean
})
export type SigningKeyRow = typeof SigningKeyRow.Type

/** Any number will do, as long as every version of the program uses the same. */
const lock = 0x62657204

export class SigningKeysRepo extends Effect.Service<SigningKeysRepo>()("oauth/SigningKeysRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    return {
      /** Newest first. */
      // What a retired key signed has expired within the hour (tokens live 15 minutes): it need not be known any more.
      known: many(SigningKeyRow)(() =>
        sql`SELECT kid, public_jwk, sealed_private_jwk, coalesce(retired_at <= now(), false) AS retired FROM signing_keys
            WHERE retired_at IS NULL OR retired_at > now() - interval '1 hour' ORDER BY created_at DESC, kid`
      )(),
      insert: ({ kid, publicJwk, sealedPrivateJwk }: Omit<SigningKeyRow, "retired">) =>
        run(sql`INSERT INTO signing_keys ${sql.insert({ kid, publicJwk: pg.json(publicJwk), sealedPrivateJwk })}`),
      /** Every key but this one goes out of use after so many seconds; one that does so sooner stays as it is. */
      retireOthers: (kid: string, seconds: number) =>
        run(
          sql`UPDATE signing_keys SET retired_at = least(retired_at, now() + ${seconds} * interval '1 second')
              WHERE kid <> ${kid}`
        ),
      /** Runs in one transaction that no other process's can overlap. */
      alone: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        transactionally(sql)(Effect.zipRight(sql`SELECT pg_advisory_xact_lock(${lock})`, effect))
    } as const
  })
}) {}
