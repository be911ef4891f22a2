import { AccountId } from "#src/accounts/CurrentActor.ts"
import { HubTier } from "#src/plans/HubTier.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { firstUlidOf } from "#src/shared/ids.ts"
import { Prose } from "#src/shared/profile-text.ts"
import { Input, Name, optional, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { CompositeMember } from "./Member.ts"
import { QueryDefinition } from "./QueryDefinition.ts"

export const CreatedBy = Schema.Literal("system", "agent", "user")
export type CreatedBy = typeof CreatedBy.Type

export const CompositeVisibility = Schema.Literal("public", "private")

/** Contract: Composite skill. Trust, health and count are those of its members at this moment. */
export const Composite = Schema.Struct({
  id: Schema.String.annotations({ description: "A ULID" }),
  created_by: CreatedBy.annotations({ description: "agent: made with a hub key; user: with a session" }),
  userId: Schema.NullOr(AccountId),
  name: Schema.String,
  slug: Schema.String,
  description: Schema.String,
  visibility: CompositeVisibility,
  query_definition: QueryDefinition,
  compositeTrust: Schema.Int.annotations({
    description: "0 to 3: the lowest verification tier of its members; 0 without members"
  }),
  avgHealthScore: Schema.Number.annotations({
    description: "0 to 100: the mean of its members', to two decimals; 0 without members"
  }),
  memberCount: Schema.Int,
  skillMdUrl: Schema.String,
  expiresAt: Schema.NullOr(Timestamp),
  promotedAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "Composite" })
export type Composite = typeof Composite.Type

export const CompositeDetail = Schema.Struct({
  ...Composite.fields,
  members: Schema.Array(CompositeMember).annotations({ description: "Best first" })
}).annotations({ title: "CompositeDetail" })

export const OwnComposites = Schema.Struct({
  data: Schema.Array(Composite),
  truncated: optional(Schema.Literal(true)).annotations({ description: "There are more; the newest are shown" })
})
export type OwnComposites = typeof OwnComposites.Type

const fields = {
  name: Name,
  description: Prose(2_000),
  query_definition: QueryDefinition,
  visibility: CompositeVisibility
}

export const newCompositeFields = {
  name: fields.name,
  description: Schema.optionalWith(fields.description, { exact: true, default: () => "" }),
  query_definition: fields.query_definition,
  visibility: optional(fields.visibility).annotations({
    description: "With a session only, private by default. What a hub key makes is private: leave it out"
  })
}
export const NewComposite = Input(newCompositeFields)

export const changedCompositeFields = {
  name: optional(fields.name),
  description: optional(fields.description),
  query_definition: optional(fields.query_definition),
  visibility: optional(fields.visibility)
}
export const ChangedComposite = Input(changedCompositeFields)

export class BadCompositeId extends Schema.TaggedError<BadCompositeId>()(
  "BadCompositeId",
  { argument: optional(Schema.Literal("compositeId")) },
  failsWith(400, "VALIDATION_ERROR")
) {
  override get message() {
    return `${this.argument ?? "id"}: must be a 26-character ULID`
  }
}

/** Contract: Hub error codes, `visibility` supplied for an agent composite. */
export class AgentCompositeVisibility extends Schema.TaggedError<AgentCompositeVisibility>()(
  "AgentCompositeVisibility",
  {},
  failsWith(400, "VALIDATION_ERROR")
) {
  override get message() {
    return "visibility: a composite that a hub key makes is private; leave visibility out, and promote it to publish it"
  }
}

/** Ids that are made begin with their time; those computed of a vertical and a place look as if made long after this. */
const firstComputed = firstUlidOf(Date.UTC(2100))

export class CompositeNotFound extends Schema.TaggedError<CompositeNotFound>()(
  "CompositeNotFound",
  { id: optional(Schema.String) },
  failsWith(404)
) {
  override get message() {
    const message = "There is no such composite, or it has expired"
    return this.id === undefined || this.id < firstComputed
      ? message
      : `${message}. The id is of one that GET /v1/hub/composites (hub_composites) computes and nobody keeps: make one ` +
        "of its query_definition by POST /v1/hub/composites (hub_create_composite)"
  }
}

export class SystemComposite extends Schema.TaggedError<SystemComposite>()("SystemComposite", {}, failsWith(403)) {
  override get message() {
    return "This composite is made by the platform, and only the platform changes it"
  }
}

/** Contract: Hub authentication, promotion. */
export class PromotionNeedsTier extends Schema.TaggedError<PromotionNeedsTier>()(
  "PromotionNeedsTier",
  { requiredTier: HubTier },
  failsWith(403)
) {
  override get message() {
    return `Promotion needs a hub key of tier ${this.requiredTier} or higher, or an account that has one: make one with ` +
      "POST /api/v1/hub/api-keys (the tool hub_create_key)"
  }
  get details() {
    return { requiredTier: this.requiredTier }
  }
}

export class AlreadyPromoted extends Schema.TaggedError<AlreadyPromoted>()("AlreadyPromoted", {}, failsWith(409)) {
  override get message() {
    return "The composite was promoted already"
  }
}

/** Contract: Limits, agent composites an account. */
export const agentCompositesPerAccount = 50

export class TooManyAgentComposites extends Schema.TaggedError<TooManyAgentComposites>()(
  "TooManyAgentComposites",
  {},
  failsWith(429, "LIMIT_EXCEEDED")
) {
  override get message() {
    return `An account has at most ${agentCompositesPerAccount} agent composites; delete or promote one, or wait until ` +
      "one expires"
  }
  /** Expired ones go daily. */
  get retryAfter() {
    return 86_400
  }
  get details() {
    return { limit: agentCompositesPerAccount }
  }
}

/** Those that stay: made by a session, or promoted. docs/decisions/composite-order.md says why there is a bound. */
export const keptCompositesPerAccount = 500

export class TooManyComposites
  extends Schema.TaggedError<TooManyComposites>()("TooManyComposites", {}, failsWith(409))
{
  override get message() {
    return `An account keeps at most ${keptCompositesPerAccount} composites; delete one first`
  }
  get details() {
    return { limit: keptCompositesPerAccount }
  }
}
