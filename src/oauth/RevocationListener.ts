import { listenForChanges } from "#src/shared/changes.ts"
import { Effect, Layer, Runtime } from "effect"
import { AccessTokens, revocationSeconds } from "./AccessTokens.ts"
import { TokensRepo } from "./TokensRepo.ts"

/**
 * Access tokens of a family that was revoked anywhere are refused here from then on. While the database can't be heard,
 * they live on to their end, 15 minutes at most; what was missed is read when it is back.
 */
export const RevocationsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const tokens = yield* AccessTokens
  const repo = yield* TokensRepo
  const fork = Runtime.runFork(yield* Effect.runtime())
  const missed = repo.revokedWithin(revocationSeconds).pipe(
    Effect.flatMap((families) => Effect.forEach(families, tokens.revokeFamily, { discard: true })),
    Effect.catchAllCause((cause) => Effect.logWarning("Revoked tokens could not be read", cause))
  )
  yield* listenForChanges("family_revoked", {
    onChange: (familyId) => void fork(tokens.revokeFamily(familyId)),
    onConnected: () => void fork(missed),
    onLost: () => undefined
  })
}))
