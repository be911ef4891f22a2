import { byHubKey, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { now } from "#src/shared/now.ts"
import { decodeCursor, encodeCursor } from "#src/shared/paging.ts"
import { BadQuery } from "#src/shared/query-parameters.ts"
import { slugOf } from "#src/shared/slug.ts"
import { Effect, Option, Struct } from "effect"
import { createHash } from "node:crypto"
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

/** Filters whose groups are counted in advance: these, and one category or tag with the size alone. */
const sizeFilters = ["verification_tier_min", "min_members"] as const
const countedFilters = new Set(["vertical", "city", "state", "health_score_min", "listing_tier", ...sizeFilters])

const onlyLabel = (filters: Filters): Label | undefined => {
  const { category, tags = [], ...rest } = Struct.omit(filters, ...sizeFilters)
  const labels = [
    ...(category === undefined ? [] : [{ isTag: false, label: category }]),
    ...tags.map((label) => ({ isTag: true, label }))
  ]
  return Object.keys(rest).length === 0 && labels.length === 1 ? labels[0] : undefined
}

/** The dynamic query (contract: Composite skill): listings by vertical, city and state, computed on each request. */
export class DynamicComposites extends Effect.Service<DynamicComposites>()("composites/DynamicComposites", {
  effect: Effect.gen(function*() {
    const groups = yield* GroupsRepo
    const members = yield* CompositeMembers
    const repo = yield* MembersRepo
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

    const found = Effect.fnUntraced(function*(filters: Filters, page: Parameters<typeof groups.counted>[1]) {
      const size = { trust: filters.verification_tier_min ?? 0, minMembers: filters.min_members ?? 1 }
      const label = onlyLabel(filters)
      if (label !== undefined) return yield* groups.counted({ ...size, leastHealth, weight: 0, label }, page)
      if (Struct.keys(filters).every((name) => countedFilters.has(name))) {
        const { health_score_min = leastHealth, listing_tier } = filters
        const weight = listing_tier === undefined ? 0 : tierWeights[listing_tier]
        const narrowing = { leastHealth: health_score_min, weight }
        return yield* groups.counted(
          { ...size, ...narrowing, ...Struct.pick(filters, "vertical", "city", "state") },
          page
        )
      }
      const cte = yield* members.matching(filters)
      return Option.isNone(cte) ? { rows: [], total: 0 } : yield* groups.ofFound(
        repo.found(Struct.omit(filters, "verification_tier_min", "min_members"), cte.value),
        size,
        page
      )
    })

    const query = Effect.fn("DynamicComposites.query")(function*(sent: Parameters<typeof compositesQueryOf>[0]) {
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
    }, withPolicy(byHubKey))

    return { query } as const
  })
}) {}
