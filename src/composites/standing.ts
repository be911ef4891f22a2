import { type CompositeSummary } from "./Member.ts"

/** What browse orders by, as it is stored: `health` is the mean in hundredths. docs/decisions/composite-order.md */
export interface Standing {
  readonly trust: number
  readonly members: number
  readonly health: number
}

export const standingOf = ({ avgHealthScore, compositeTrust, memberCount }: CompositeSummary): Standing => ({
  trust: compositeTrust,
  members: memberCount,
  health: Math.round(avgHealthScore * 100)
})

/** A standing as it is shown. */
export const storedSummary = ({ health, members, trust }: Standing): CompositeSummary => ({
  compositeTrust: trust,
  avgHealthScore: health / 100,
  memberCount: members
})

/** Contract: browse ordering; then by id. */
export const byStanding = <A extends CompositeSummary & { readonly id: string }>(one: A, other: A) =>
  other.compositeTrust - one.compositeTrust || other.memberCount - one.memberCount ||
  other.avgHealthScore - one.avgHealthScore || (one.id < other.id ? -1 : 1)
