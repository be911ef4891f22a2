import { type ListingTier, ListingTier as Tier } from "#src/plans/ListingTier.ts"
import { Schema } from "effect"

/** Contract: Composites, `members[]`. */
export const CompositeMember = Schema.Struct({
  listing_id: Schema.String,
  name: Schema.String,
  businessSlug: Schema.String,
  mcpServerUrl: Schema.String.annotations({ description: "Empty when the business has no MCP server" }),
  listing_tier: Tier,
  verification_tier: Schema.Int.annotations({ description: "0 unverified, 1 phone, 2 business, 3 premium" }),
  health_score: Schema.Int.annotations({ description: "50 to 100" }),
  capability_doc_url: Schema.NullOr(Schema.String),
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String })).annotations({
    description: "Those that its deployment found, else those of its capability document; at most 40, in its own words"
  })
}).annotations({ title: "CompositeMember" })
export type CompositeMember = typeof CompositeMember.Type

/** A member with the number of all its tools, also of those that are not listed. */
export interface CountedMember extends CompositeMember {
  readonly toolCount: number
}

/** What a composite is known by beside its members. */
export const CompositeSummary = Schema.Struct({
  compositeTrust: Schema.Int.annotations({ description: "The lowest verification tier of its members, 0 to 3" }),
  avgHealthScore: Schema.Number.annotations({ description: "The mean of its members, with two decimals" }),
  memberCount: Schema.Int
})
export type CompositeSummary = typeof CompositeSummary.Type

type Rated = Pick<CompositeMember, "listing_tier" | "verification_tier" | "health_score">

/** Contract: Composites, ranking. */
export const tierWeights: Readonly<Record<ListingTier, number>> = { basic: 1, featured: 2, premium: 3 }

const mean = (numbers: ReadonlyArray<number>) =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** The lowest verification tier; 0 without members. */
export const trustOf = (members: ReadonlyArray<Rated>) =>
  members.length === 0 ? 0 : Math.min(...members.map((member) => member.verification_tier))

const meanHealthOf = (members: ReadonlyArray<Rated>) => mean(members.map((member) => member.health_score))

/** The mean health score, with two decimals; 0 without members. */
export const averageHealthOf = (members: ReadonlyArray<Rated>) => Math.round(meanHealthOf(members) * 100) / 100

/** Trust × mean health × mean weight of the listing tiers. Of one member it is the member's place in a composite. */
export const rank = (members: ReadonlyArray<Rated>) =>
  trustOf(members) * meanHealthOf(members) * mean(members.map((member) => tierWeights[member.listing_tier]))

export const summaryOf = (members: ReadonlyArray<Rated>): CompositeSummary => ({
  compositeTrust: trustOf(members),
  avgHealthScore: averageHealthOf(members),
  memberCount: members.length
})
