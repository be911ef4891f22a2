import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { mayDo, sessionOnly, Unauthorized } from "#src/accounts/Policy.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { Effect } from "effect"

/**
 * A hub key is for what everybody may read: neither it nor a token that it was exchanged for reaches a server that is
 * there for its account alone.
 */
export const reachesEverybodysOnly = ({ credential }: Actor) =>
  credential.kind === "hub" || credential.kind === "oauth" && credential.forEverybody === true

/**
 * The scopes that members are called with: every one for a session, a hub key, and a client that counts as a session;
 * for a token for the composite its own. Fails for other credentials.
 */
export const memberScope = Effect.gen(function*() {
  const actor = yield* CurrentActor
  const { credential } = actor
  if (credential.kind === "oauth" && credential.compositeScope !== undefined) return credential.compositeScope
  if (credential.kind === "key") {
    return yield* new Unauthorized({
      reason: "Composites take a hub key, a session or an access token, no platform key"
    })
  }
  if (credential.kind !== "hub" && !mayDo(actor, "session")) yield* sessionOnly
  return allMcpScopes
})
