import { sealedIntegrations } from "#src/businesses/business-columns.ts"
import { sealedPrivateKeys } from "#src/oauth/SigningKeys.ts"
import { sealedPasswords } from "#src/registries/ImageRegistries.ts"
import { sealedReplaced, sealedVariables } from "#src/servers/Environment.ts"
import { sealedResponses } from "#src/shared/Idempotency.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { SecretKeys } from "./SecretKeys.ts"

/** Every column with sealed values. A test compares the list with the schema's `sealed_` columns. */
export const sealedColumns = [
  sealedIntegrations,
  sealedVariables,
  sealedReplaced,
  sealedResponses,
  sealedPrivateKeys,
  sealedPasswords
] as const

/**
 * Moves every sealed value to the current key (`berth admin rewrap`). After it, `SECRET_KEY_PREVIOUS` is no longer
 * needed. The running service must know the key. If it is interrupted, run it again.
 */
export class Rewrap extends Effect.Service<Rewrap>()("operations/Rewrap", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const keys = yield* SecretKeys

    const rewrapAll = Effect.forEach(
      sealedColumns,
      ({ rewrap, table }) => Effect.map(rewrap, (moved) => ({ table, moved }))
    ).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.provideService(Secrets, secrets)
    )

    return { all: keys.checkAgainstService.pipe(Effect.zipRight(rewrapAll), Effect.zipLeft(keys.forgetOthers)) }
  })
}) {}
