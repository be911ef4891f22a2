import { Accounts } from "#src/accounts/Accounts.ts"
import { Standing } from "#src/businesses/Standing.ts"
import { Verification } from "#src/businesses/Verification.ts"
import { Directory } from "#src/directory/Directory.ts"
import { Imports } from "#src/imports/Imports.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { Tokens } from "#src/oauth/Tokens.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Idempotency } from "#src/shared/Idempotency.ts"
import { patiently } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Layer, Schedule } from "effect"

/** Drops what has expired, and raises what has come of age; repeated by each instance, which does no harm. */
export const MaintenanceLive = Layer.scopedDiscard(Effect.gen(function*() {
  const accounts = yield* Accounts
  const clients = yield* OAuthClients
  const idempotency = yield* Idempotency
  const tokens = yield* Tokens
  const verification = yield* Verification
  const patient = patiently(yield* SqlClient.SqlClient)
  const sweeps = [accounts.sweep, clients.sweep, tokens.sweep, idempotency.sweep, verification.sweep]
  const sweep = Effect.all(sweeps.map((one) => patient(one)), { discard: true }).pipe(
    Effect.catchAllCause((cause) =>
      Effect.logWarning("Expired records could not be dropped; trying again later", cause)
    )
  )
  const { comeOfAge } = yield* Standing
  const raise = comeOfAge.pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("Verification levels could not be raised; trying again", cause))
  )
  const imports = yield* Imports
  const dropPreviews = patient(imports.sweep).pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("Expired previews could not be dropped; trying again", cause))
  )
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(dropPreviews, "1 minute"), Schedule.spaced("1 hour")))
  const disk = yield* Disk
  yield* Effect.forkScoped(Effect.repeat(disk.look, Schedule.spaced("1 minute")))
  const directory = yield* Directory
  const tidy = directory.tidy.pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("The directory could not be tidied; trying again", cause))
  )
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(tidy, "1 minute"), Schedule.spaced("10 minutes")))
  // An owner sees the level as it is (Businesses); everybody else no later than this.
  yield* Effect.forkScoped(Effect.repeat(raise, Schedule.spaced("30 seconds")))
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(sweep, "1 minute"), Schedule.spaced("10 minutes")))
}))
