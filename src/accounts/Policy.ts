import { failsWith } from "#src/shared/Failure.ts"
import { Effect, Schema } from "effect"
import { type Actor, CurrentActor, type Scope } from "./CurrentActor.ts"

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

const allows = (actor: Actor, scopes: ReadonlyArray<Scope>) =>
  actor.credential.kind === "session" || scopes.some(actor.credential.scopes.has, actor.credential.scopes)

/** A session, or a key with one of the scopes. */
export const anyScope = (...scopes: ReadonlyArray<Scope>): Policy<Forbidden> =>
  Effect.flatMap(CurrentActor, (actor) =>
    allows(actor, scopes)
      ? Effect.void
      : new Forbidden({ reason: `This key lacks the scope ${scopes.join(" or ")}`, requiredScopes: scopes }))

/** Where the contract says session only: a platform key there is 401 (design: sessions). */
export const sessionOnly: Policy<Unauthorized> = Effect.flatMap(
  CurrentActor,
  (actor) =>
    actor.credential.kind === "session"
      ? Effect.void
      : new Unauthorized({ reason: "This operation needs a session, not an API key" })
)

/** What a key may never do, whatever its scopes: it belongs to one project. */
export const notByKey: Policy<Forbidden> = Effect.flatMap(
  CurrentActor,
  (actor) =>
    actor.credential.kind === "session" ? Effect.void : new Forbidden({ reason: "An API key can't do this; log in" })
)

export const withPolicy = <E2>(policy: Policy<E2>) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.zipRight(policy, self)

/** Whether a project is within what the credential may see: a key sees its own only. */
export const seesProject = (actor: Actor, projectId: string) =>
  actor.credential.kind === "session" || actor.credential.projectId === projectId
