import { withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { now } from "#src/shared/now.ts"
import { decodeCursor, encodeCursor } from "#src/shared/paging.ts"
import { BadQuery } from "#src/shared/query-parameters.ts"
import { slugOf } from "#src/shared/slug.ts"
import { traced } from "#src/shared/traced.ts"
import { Array as Arr, Effect, Option, Struct } from "effect"
import { createHash } from "node:crypto"
import { BroadLabels } from "./BroadLabels.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { compositesQueryOf } from "./CompositesQuery.ts"
import { type GroupKey, type Label } from "./group-sql.ts"
import { type GroupRow, GroupsRepo } from "./GroupsRepo.ts"
import { tierWeights } from "./Member.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { leastHealth } from "./QueryDefinition.ts"
import { namesOf } from "./title-case.ts"

const keyPattern = /^(0|-\d{1,3}(?:\.\d{1,20})?) ([0-7][0-9A-HJKMNP-TV-Z]{25})$/
const keyText = ({ id, rank }: GroupKey) => `${rank} ${id}`
const keyOf = (text: string): GroupKey => {
  const [, rank, id = ""] = keyPattern.exec(text) ?? []
  return { rank: Number(rank), id }
}

type Filters = Omit<Effect.Effect.Success<ReturnType<typeof compositesQueryOf>>, "limit" | "cursor">

/** A cursor is valid only for the same filters; the limit may differ. */
const listName = (filters: Filters) => {
  const text = JSON.stringify(Object.entries(filters).sort(([a], [b]) => a < b ? -1 : 1))
  return `composites ${createHash("sha256").update(text).digest("base64url").slice(0, 16)}`
}

const notOurs = new BadQuery({
  issues: [{ path: "cursor", message: "must be meta.cursor of a page of this query" }]
})

const sizeFilters = ["verification_tier_min", "min_members"] as const
/** Filters whose groups are counted in advance, for all members and for those with a broad label. */
const countedFilters = new Set(["vertical", "city", "state", "health_score_min", "listing_tier", ...sizeFilters])

const labelsOf = ({ category, tags = [] }: Filters): ReadonlyArray<Label> => [
  ...(category === undefined ? [] : [{ isTag: false, label: category }]),
  ...Arr.dedupe(tags).map((label) => ({ isTag: true, label }))
]

/** The dynamic query (contract: Composite skill): listings by vertical, city and state, computed on each request. */
export class DynamicComposites extends Effect.Service<DynamicComposites>()("composites/DynamicComposites", {
  effect: Effect.gen(function*() {
    const groups = yield* GroupsRepo
    const broadLabels = yield* BroadLabels
    const members = yield* CompositeMembers
    const repo = yield* MembersRepo
    const { reads } = yield* HubKeys
    const { hubUrl } = yield* CurrentSettings

    const view = (filters: Filters, at: Date) => (row: GroupRow) => {
      const [best] = row.members
      const { city = "", industry: vertical = "", state = "" } = best ?? {}
      const names = namesOf({ city, state, vertical })
      const name = row.name ?? names.name
      const selectors = Struct.omit(filters, "min_members", "verification_tier_min")
      return {
        id: row.id,
        created_by: "system" as const,
        userId: null,
        name,
        slug: row.slug ?? slugOf(`${name} ${state}`, row.id.toLowerCase()),
        description: names.description,
        visibility: "public" as const,
        query_definition: { ...selectors, vertical, city, state },
        compositeTrust: row.trust,
        avgHealthScore: row.avgHealth,
        memberCount: row.n,
        skillMdUrl: row.name === null ? null : `${hubUrl}/v1/hub/composites/${row.id}/skill.md`,
        expiresAt: null,
        promotedAt: null,
        createdAt: row.createdAt ?? at,
        updatedAt: row.updatedAt ?? at,
        members: row.members.map(members.view)
      }
    }

    /** A city has few members, and two labels are not counted by tier. */
    const broadOf = ({ city, listing_tier }: Filters, labels: ReadonlyArray<Label>) =>
      city === undefined && (labels.length === 1 || labels.length === 2 && listing_tier === undefined)
        ? broadLabels.numbersOf(labels)
        : Effect.succeed(undefined)

    const found = Effect.fnUntraced(function*(filters: Filters, page: Parameters<typeof groups.counted>[1]) {
      const size = { trust: filters.verification_tier_min ?? 0, minMembers: filters.min_members ?? 1 }
      const { health_score_min = leastHealth, listing_tier } = filters
      const narrowing = {
        leastHealth: health_score_min,
        weight: listing_tier === undefined ? 0 : tierWeights[listing_tier]
      }
      const counted = { ...size, ...narrowing, ...Struct.pick(filters, "vertical", "city", "state") }
      const labels = labelsOf(filters)
      const others = Struct.keys(Struct.omit(filters, "category", "tags", ...sizeFilters))
      if (others.every((name) => countedFilters.has(name))) {
        if (labels.length === 0) return yield* groups.counted(counted, page)
        if (labels.length === 1 && others.length === 0) return yield* groups.counted({ ...counted, labels }, page)
        const broad = yield* broadOf(filters, labels)
        if (broad !== undefined) return yield* groups.counted({ ...counted, labels, broad }, page)
      }
      const cte = yield* members.matching(filters)
      return Option.isNone(cte) ? { rows: [], total: 0 } : yield* groups.ofFound(
        repo.found(Struct.omit(filters, "verification_tier_min", "min_members"), cte.value),
        size,
        page
      )
    })

    const query = traced("DynamicComposites.query")(function*(sent: Parameters<typeof compositesQueryOf>[0]) {
      const { cursor, limit, ...filters } = yield* compositesQueryOf(sent)
      const list = listName(filters)
      const after = cursor === undefined ? undefined : keyOf(
        yield* Effect.mapError(
          Effect.suspend(() => decodeCursor(list, cursor, (text) => keyPattern.test(text))),
          () => notOurs
        )
      )
      const { rows, total } = yield* found(filters, { after, count: limit + 1 })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const hasMore = rows.length > limit
      return {
        data: page.map(view(filters, yield* now)),
        meta: { cursor: hasMore && last !== undefined ? encodeCursor(list, keyText(last)) : null, hasMore, total }
      }
    }, withPolicy(reads))

    return { query } as const
  })
}) {}
