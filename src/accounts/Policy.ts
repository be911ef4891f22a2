import { isAtLeast } from "#src/plans/HubTier.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Effect, Schema } from "effect"
import { accountScope, type Actor, CurrentActor, type GrantedScope, type Scope } from "./CurrentActor.ts"

/** The credential is not enough for the operation (403): a scope is missing, or the operation asks for a session. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  reason: Schema.String,
  requiredScopes: Schema.optional(Schema.Array(Schema.String))
}, failsWith(403)) {
  override get message() {
    return this.reason
  }
  get details() {
    return this.requiredScopes === undefined ? undefined : { requiredScopes: this.requiredScopes }
  }
}

/** No credential, or none that is valid here (401). */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.String
}, failsWith(401)) {
  override get message() {
    return this.reason
  }
}

export type Policy<E> = Effect.Effect<void, E, CurrentActor>

/**
 * What an operation requires: one of these scopes, a session, a session or a hub key, or nothing because its answer is
 * public. `hubReader`: a session, an OAuth client with any scope, or a hub key. `builder`: a
 * session, or a hub key of that tier or higher.
 */
export type Needs = ReadonlyArray<Scope> | "session" | "hubReader" | "builder" | "sessionOrHubKey" | "anybody"

/** Whether a credential is enough. A session is; an OAuth client with the scope `account` counts as one. */
export const mayDo = ({ credential }: Actor, needs: Needs) => {
  if (needs === "anybody") return true
  if (credential.kind === "hub") {
    return needs === "builder"
      ? isAtLeast(credential.tier, "builder")
      : needs === "hubReader" || needs === "sessionOrHubKey"
  }
  if (credential.kind === "session") return true
  if (needs === "hubReader") return credential.kind === "oauth"
  if (typeof needs === "string") return credential.kind === "oauth" && credential.scopes.has(accountScope)
  return needs.some((scope) => (credential.scopes as ReadonlySet<Scope>).has(scope))
}

const hubKeyFrom = "make one with POST /api/v1/hub/api-keys (the tool hub_create_key)"

/** The credential that an operation asks for, and how to get it, for who has another. */
export const credentialFor = (needs: Needs) => {
  if (needs === "anybody") return "no credential of its own"
  if (needs === "hubReader") return `a session (log in), an OAuth sign-in or a hub key; ${hubKeyFrom}`
  if (needs === "builder") return `a session (log in) or a hub key of tier builder or higher; ${hubKeyFrom}`
  if (needs === "sessionOrHubKey") return `a session (log in) or a hub key; ${hubKeyFrom}`
  if (needs === "session") return `a session (log in), or an OAuth client with the scope ${accountScope}`
  return `the scope ${needs.join(" or ")}; log in, or make an API key that has it (the tool create_api_key)`
}

const lacks = ({ credential }: Actor, scopes: ReadonlyArray<GrantedScope>) =>
  new Forbidden({
    reason: `This ${credential.kind === "oauth" ? "token" : "key"} lacks the scope ${scopes.join(" or ")}`,
    requiredScopes: scopes
  })

/** A session, or a key or client with one of the scopes. */
export const anyScope = (...scopes: ReadonlyArray<Scope>): Policy<Forbidden> =>
  Effect.flatMap(CurrentActor, (actor) => {
    if (mayDo(actor, scopes)) return Effect.void
    return actor.credential.kind === "hub"
      ? Effect.fail(new Forbidden({ reason: "A hub key can't do this; use a platform API key or log in" }))
      : lacks(actor, scopes)
  })

/** For operations that the contract marks session only: a platform key gets 401. */
export const sessionOnly: Policy<Unauthorized | Forbidden> = Effect.gen(function*() {
  const actor = yield* CurrentActor
  if (mayDo(actor, "session")) return
  if (actor.credential.kind === "oauth") return yield* lacks(actor, [accountScope])
  return yield* new Unauthorized({ reason: "This operation needs a session, not an API key" })
})

/** Whoever has signed in, or a hub key of any tier; a platform key gets 401 (contract: Hub authentication). */
export const byHubReader: Policy<Unauthorized> = Effect.flatMap(
  CurrentActor,
  (actor) =>
    mayDo(actor, "hubReader")
      ? Effect.void
      : new Unauthorized({ reason: `This operation needs ${credentialFor("hubReader")}` })
)

/** A session, or a hub key of any tier; a platform key gets 401. */
export const bySessionOrHubKey: Policy<Unauthorized | Forbidden> = Effect.gen(function*() {
  const actor = yield* CurrentActor
  if (mayDo(actor, "sessionOrHubKey")) return
  if (actor.credential.kind === "oauth") return yield* lacks(actor, [accountScope])
  return yield* new Unauthorized({ reason: "This operation needs a hub key or a session, not a platform API key" })
})

/** For operations that no key may do, whatever its scopes, because a key belongs to one project. */
export const notByKey: Policy<Forbidden> = Effect.flatMap(CurrentActor, (actor) => {
  if (mayDo(actor, "session")) return Effect.void
  if (actor.credential.kind === "oauth") return lacks(actor, [accountScope])
  return new Forbidden({ reason: "An API key can't do this; log in" })
})

export const withPolicy = <E2>(policy: Policy<E2>) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.zipRight(policy, self)

/** Whether a project is within what the credential may see: a key sees its own only. */
export const seesProject = (actor: Actor, projectId: string) =>
  actor.credential.kind !== "key" || actor.credential.projectId === projectId
