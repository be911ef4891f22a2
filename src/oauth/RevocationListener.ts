import { listenForChanges, tellHere } from "#src/shared/changes.ts"
import { Effect, Layer, Runtime } from "effect"
import { AccessTokens, revocationSeconds } from "./AccessTokens.ts"
import { TokensRepo } from "./TokensRepo.ts"

const channel = "family_revoked"

/** Call it after the commit: from then on this process rejects the family's tokens, and nobody gets an answer before. */
export const tellRevoked = (familyId: string) => tellHere(channel, familyId)

/**
 * Rejects the access tokens of a family that any process revoked. While the database connection is lost they stay valid
 * until they expire, 15 minutes at most; missed revocations are read after reconnecting.
 */
export const RevocationsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const tokens = yield* AccessTokens
  const repo = yield* TokensRepo
  const fork = Runtime.runFork(yield* Effect.runtime())
  const catchUp = repo.revokedWithin(revocationSeconds).pipe(
    Effect.flatMap((families) => Effect.forEach(families, tokens.revokeFamily, { discard: true })),
    Effect.catchAllCause((cause) => Effect.logWarning("Revoked tokens could not be read", cause))
  )
  yield* listenForChanges(channel, {
    onChange: (familyId) => void fork(tokens.revokeFamily(familyId)),
    onConnected: () => void fork(catchUp),
    onLost: () => undefined
  })
}))
