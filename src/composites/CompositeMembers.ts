import { CurrentSettings } from "#src/config/Settings.ts"
import { DirectoryMatches } from "#src/directory/DirectoryMatches.ts"
import { documentUrl } from "#src/hub/document-url.ts"
import { mcpUrl, sseUrl } from "#src/servers/addresses.ts"
import { traced } from "#src/shared/traced.ts"
import { Effect, Option } from "effect"
import { type MemberRow } from "./member-sql.ts"
import { type CompositeMember, type CompositeSummary, type CountedMember, summaryOf } from "./Member.ts"
import { MembersRepo, type VerifiedGroup } from "./MembersRepo.ts"
import { type QueryDefinition } from "./QueryDefinition.ts"

/** A definition as those of system composites are: its summary is counted in advance. */
const verifiedGroupOf = (definition: QueryDefinition): VerifiedGroup | undefined => {
  const { city, state, vertical, verification_tier_min } = definition
  return city !== undefined && state !== undefined && vertical !== undefined && verification_tier_min === 2 &&
      Object.keys(definition).length === 4
    ? { vertical, city, state }
    : undefined
}

/** Which listings are members of a composite at this moment: active, of a health score of 50 or more. Nothing is cached. */
export class CompositeMembers extends Effect.Service<CompositeMembers>()("composites/CompositeMembers", {
  effect: Effect.gen(function*() {
    const repo = yield* MembersRepo
    const directory = yield* DirectoryMatches
    const settings = yield* CurrentSettings

    const view = ({ hasDocument, id, serverSlug, transport, ...row }: MemberRow): CompositeMember => ({
      listing_id: id,
      name: row.name,
      businessSlug: row.businessSlug,
      mcpServerUrl: serverSlug === null ? "" : (transport === "sse" ? sseUrl : mcpUrl)(settings, serverSlug),
      listing_tier: row.tier,
      verification_tier: row.verificationTier,
      health_score: row.healthScore,
      capability_doc_url: hasDocument ? documentUrl(settings.hubUrl, id) : null,
      tools: row.tools.map(({ description, name }) => ({ name, description }))
    })

    const counted = (row: MemberRow): CountedMember => ({ ...view(row), toolCount: row.toolCount })

    /**
     * What the directory finds by the parts of a definition that its indexes are for; none when that is nothing. Members are
     * indexed by category themselves.
     */
    const matching = ({ category, city, lat, lng, radius_miles: miles, search, state }: QueryDefinition) =>
      search === undefined && miles === undefined ? Effect.succeed(Option.some(undefined)) : directory.cte({
        ...(category === undefined ? {} : { category }),
        ...(search === undefined ? {} : { search }),
        ...(city === undefined ? {} : { city }),
        ...(state === undefined ? {} : { state }),
        ...(lat === undefined || lng === undefined || miles === undefined ? {} : { circle: { lat, lng, miles } })
      })

    /** The best members of a definition, at most 50: by trust × health × weight of the tier, then the oldest. */
    const resolve = traced("CompositeMembers.resolve")(function*(definition: QueryDefinition) {
      const cte = yield* matching(definition)
      return Option.isNone(cte) ? [] : (yield* repo.best(definition, cte.value)).map(counted)
    })

    const summary = Effect.fnUntraced(function*(definition: QueryDefinition) {
      const group = verifiedGroupOf(definition)
      if (group !== undefined) return Option.getOrElse(yield* repo.ofVerified(group), () => summaryOf([]))
      const cte = yield* matching(definition)
      return Option.isNone(cte) ? summaryOf([]) : yield* repo.summary(definition, cte.value)
    })

    /** Trust, health and number of all members of each definition, in the same order. */
    const summaries = traced("CompositeMembers.summaries")(function*(definitions: ReadonlyArray<QueryDefinition>) {
      return yield* Effect.forEach(definitions, summary, { concurrency: 4 })
    })

    /** The summaries of system composites, whose ids are those of their groups. */
    const ofSystem = traced("CompositeMembers.ofSystem")(function*(ids: ReadonlyArray<string>) {
      const rows = ids.length === 0 ? [] : yield* repo.ofGroups(ids)
      const found = new Map<string, CompositeSummary>(rows.map(({ id, ...summary }) => [id, summary]))
      return new Map(ids.map((id) => [id, found.get(id) ?? summaryOf([])]))
    })

    return { resolve, summaries, ofSystem, matching, view } as const
  })
}) {}
