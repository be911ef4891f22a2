import { type Settings } from "#src/config/Settings.ts"
import { type Composite } from "./Composite.ts"
import { type CompositeRow } from "./CompositesRepo.ts"
import { type CompositeSummary } from "./Member.ts"

/** A stored composite as it is shown, with what its members make of it. */
export const compositeOf = ({ hubUrl }: Settings) => (row: CompositeRow, summary: CompositeSummary): Composite => ({
  id: row.id,
  created_by: row.createdBy,
  userId: row.userId,
  name: row.name,
  slug: row.slug,
  description: row.description,
  visibility: row.visibility,
  query_definition: row.queryDefinition,
  compositeTrust: summary.compositeTrust,
  avgHealthScore: summary.avgHealthScore,
  memberCount: summary.memberCount,
  skillMdUrl: `${hubUrl}/v1/hub/composites/${row.id}/skill.md`,
  expiresAt: row.expiresAt,
  promotedAt: row.promotedAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt
})
