import { prepared } from "#src/format/prepared.ts"
import { decodePassing } from "#src/shared/passing.ts"
import { dieOnSql, many, maybe } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Effect, Option, Schema } from "effect"
import { GroupSql, type Label } from "./group-sql.ts"
import { memberJson, MemberRow } from "./member-sql.ts"
import { CompositeSummary, tierWeights } from "./Member.ts"
import { leastHealth, mostMembers, type QueryDefinition } from "./QueryDefinition.ts"
import { ReachedComposite, reachedJson } from "./reached-sql.ts"

const Members = Schema.Struct({ members: Schema.Array(MemberRow) })

const GroupSummary = Schema.Struct({ id: Schema.String, ...CompositeSummary.fields })

/** A composite whose members are all verified ones of a vertical in a city, as the system's are. */
export interface VerifiedGroup {
  readonly vertical: string
  readonly city: string
  readonly state: string
}

/** Members are found by so many categories and tags; to plan a join of more takes longer than to read their listings. */
const labelsJoined = 3

/** Of a vertical in a city: one plan fits all. */
const isGroup = ({ city, vertical }: Omit<QueryDefinition, "limit">, matching: Statement.Fragment | undefined) =>
  city !== undefined && vertical !== undefined && matching === undefined

/** Of listings by their ids: one plan fits these, too. */
const isListed = ({ limit: _, listing_ids, ...rest }: QueryDefinition) =>
  listing_ids !== undefined && Object.keys(rest).length === 0

/** The listings that satisfy a definition, as they are at this moment. */
export class MembersRepo extends Effect.Service<MembersRepo>()("composites/MembersRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { isCounted, ofKeys, ofLabel, recounted } = GroupSql(sql)

    /**
     * The CTE `found`: entries that satisfy a definition, all of them whatever its limit. `matching`: the CTE of what the
     * directory found by search, category and circle.
     */
    const found = (definition: Omit<QueryDefinition, "limit">, matching: Statement.Fragment | undefined) => {
      const { category, health_score_min, listing_ids, listing_tier, tags, verification_tier_min } = definition
      const labels: ReadonlyArray<Label> = [
        ...(category === undefined || matching !== undefined ? [] : [{ isTag: false, label: category }]),
        ...Arr.dedupe(tags ?? []).map((label) => ({ isTag: true, label }))
      ]
      const keys = ofKeys(definition, isGroup(definition, matching))
      const further = labels.slice(labelsJoined).map(({ label }) => label)
      const own = [
        ...(listing_ids === undefined ? [] : [sql`l.id = ANY(${listing_ids}::text[])`]),
        ...(further.length === 0 ? [] : [sql`l.tags @> ${further}::text[]`])
      ]
      const joins = [
        // A row for each member that has the label, in the order of groups and members.
        ...labels.slice(1, labelsJoined).map((label, at) => {
          const other = sql.literal(`l${at}`)
          return sql`JOIN composite_labels ${other} ON ${ofLabel(other, label)}
            AND (${other}.group_number, ${other}.number) = (e.group_number, e.number)`
        }),
        ...(matching === undefined ? [] : [sql`JOIN matching m ON m.number = e.number`]),
        ...(keys.length === 0 ? [] : [sql`JOIN composite_groups g ON g.number = e.group_number`]),
        ...(own.length === 0 ? [] : [sql`JOIN listings l ON l.number = e.number`])
      ]
      const conditions = [
        ...labels.slice(0, 1).map((label) => ofLabel(sql`e`, label)),
        sql`e.health >= ${Math.max(leastHealth, health_score_min ?? 0)}`,
        ...(verification_tier_min === undefined ? [] : [sql`e.trust >= ${verification_tier_min}`]),
        ...(listing_tier === undefined ? [] : [sql`e.weight = ${tierWeights[listing_tier]}`]),
        ...keys,
        ...own
      ]
      // What is found by a join is read once; entries alone are summed in the order of their index, without a copy.
      const isAlone = matching === undefined && own.length === 0 && labels.length < 2
      return sql`${matching === undefined ? sql`` : sql`${matching},`} found AS ${
        sql.literal(isAlone ? "NOT MATERIALIZED" : "MATERIALIZED")
      } (
        SELECT e.number, e.group_number, e.trust, e.weight, e.health, e.score
        FROM ${sql.literal(labels.length === 0 ? "composite_entries" : "composite_labels")} e
        ${sql.join(" ", false)(joins)} WHERE ${sql.and(conditions)})`
    }

    /** The best of the CTE `found`. */
    const best = (count: number | null) =>
      sql`SELECT number, score, trust, health FROM found ORDER BY score DESC, number LIMIT ${count}`

    const decodeMembers = decodePassing(Schema.Tuple(Members))
    const decodeSummary = decodePassing(Schema.Tuple(CompositeSummary))

    const onceFor = (definition: QueryDefinition, matching: Statement.Fragment | undefined) =>
      sql.literal(isGroup(definition, matching) || isListed(definition) ? prepared : "")

    const verified = sql`g.verified_trust::int AS "compositeTrust", g.verified_n AS "memberCount",
      coalesce(round(g.verified_health::numeric / nullif(g.verified_n, 0), 2), 0)::float8 AS "avgHealthScore"`
    /** The verified members of groups, which are a condition on `g`. */
    const verifiedOf = (groups: Statement.Fragment) =>
      sql`${sql.literal(prepared)} WITH ${
        recounted({ groups: sql`SELECT g.number FROM composite_groups g WHERE ${groups}` })
      }
        SELECT g.id, ${verified} FROM composite_groups g WHERE ${groups} AND ${isCounted}
        UNION ALL SELECT g.id, ${verified} FROM recounted g`

    return {
      found,
      best: Effect.fnUntraced(function*(definition: QueryDefinition, matching: Statement.Fragment | undefined) {
        const count = definition.limit ?? mostMembers
        const rows = yield* sql`${onceFor(definition, matching)} WITH ${found(definition, matching)}
          SELECT (${memberJson(sql, best(count))}) AS members`
        const [{ members }] = yield* decodeMembers(rows)
        return members
      }, dieOnSql),
      /**
       * A composite that has not expired, with the best members of the definition, which is its own at best. `matching`:
       * none when nothing can match.
       */
      reached: maybe(ReachedComposite)((
        id: string,
        at: Date,
        definition: QueryDefinition,
        matching: Option.Option<Statement.Fragment | undefined>,
        accountId: string
      ) => {
        const cte = Option.getOrUndefined(matching)
        const composite =
          sql`c.id, c.user_id, c.visibility, c.name, c.description, c.query_definition::text AS definition`
        const alive = sql`FROM composites c WHERE c.id = ${id} AND (c.expires_at IS NULL OR c.expires_at > ${at})`
        return Option.isNone(matching)
          ? sql`SELECT ${composite}, '[]'::json AS members ${alive}`
          : sql`${onceFor(definition, cte)} WITH ${found(definition, cte)}
              SELECT ${composite}, (${reachedJson(sql, best(definition.limit ?? mostMembers), accountId)}) AS members
                ${alive}`
      }),
      summary: Effect.fnUntraced(function*(definition: QueryDefinition, matching: Statement.Fragment | undefined) {
        const rows = yield* sql`WITH ${found(definition, matching)}
          SELECT coalesce(min(trust), 0)::int AS "compositeTrust", count(*)::int AS "memberCount",
            coalesce(round(avg(health), 2), 0)::float8 AS "avgHealthScore" FROM (${
          best(definition.limit ?? null)
        }) best`
        return (yield* decodeSummary(rows))[0]
      }, dieOnSql),
      /** The verified members of a vertical in a city. */
      ofVerified: maybe(CompositeSummary)((group: VerifiedGroup) => verifiedOf(sql.and(ofKeys(group)))),
      /** The same of groups with these ids. */
      ofGroups: many(GroupSummary)((ids: ReadonlyArray<string>) => verifiedOf(sql`g.id = ANY(${ids}::text[])`))
    } as const
  })
}) {}
