import { prepared } from "#src/format/prepared.ts"
import { decodePassing } from "#src/shared/passing.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { foldMarks } from "./fold-marks.ts"
import { type GroupFilter, type GroupKey, GroupSql, isNarrow } from "./group-sql.ts"
import { memberJson, MemberRow } from "./member-sql.ts"

/** A group on a page, with the best of its members. */
const GroupRow = Schema.Struct({
  id: Schema.String,
  n: Schema.Int,
  trust: Schema.Int,
  avgHealth: Schema.Number,
  rank: Schema.Number,
  members: Schema.Array(MemberRow),
  /** Of the system composite of the group, if there is one. */
  name: Schema.NullOr(Schema.String),
  slug: Schema.NullOr(Schema.String),
  createdAt: Schema.NullOr(Schema.DateFromSelf),
  updatedAt: Schema.NullOr(Schema.DateFromSelf)
})
export type GroupRow = typeof GroupRow.Type
const decodeGroups = decodePassing(Schema.Array(GroupRow))
const decodeTotal = decodePassing(Schema.Tuple(Schema.Struct({ total: Schema.Int })))

export interface GroupPage {
  readonly after: GroupKey | undefined
  readonly count: number
}

/** Each group of a page has so many members listed. */
const membersListed = 10

/** Pages of groups, best first. All groups are counted in advance, or those of some listings as they are now. */
export class GroupsRepo extends Effect.Service<GroupsRepo>()("composites/GroupsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const {
      after,
      isCounted,
      ofBroad,
      ofEntry,
      ofKeys,
      ofLabel,
      ofLabelled,
      ofNumbers,
      ofSize,
      ofStep,
      recounted,
      sums
    } = GroupSql(sql)
    const g = sql`g`

    const decodePage = Effect.fnUntraced(function*(rows: ReadonlyArray<Record<string, unknown>>) {
      const [{ total }] = yield* decodeTotal(rows.slice(0, 1).map(({ total }) => ({ total })))
      const found = rows.filter(({ id }) => id !== null).map(({ total: _, ...row }) => row)
      return { total, rows: yield* decodeGroups(found) }
    })

    /** `members`: a statement of the members of the group `p.number`, as one JSON array. */
    const pageWith = (total: Statement.Fragment, members: Statement.Fragment) =>
      sql`SELECT t.total, p.id, p.n, p.trust, round(p.health::numeric / p.n, 2)::float8 AS avg_health, p.rank,
            (${members}) AS members, c.name, c.slug, c.created_at, c.updated_at
          FROM (SELECT (${total})::int AS total) t LEFT JOIN page p ON true LEFT JOIN composites c ON c.id = p.id
          ORDER BY p.rank, p.id`

    /** Where groups are counted, and where members are: a filter that narrows members has counts of its own. */
    const countsOf = (filter: GroupFilter) => {
      const { broad, labels: [label] = [], leastHealth, weight } = filter
      if (broad !== undefined) {
        return {
          table: sql`composite_label_steps g`,
          size: ofBroad(g, filter, broad),
          totals: sql`composite_label_step_totals t
            WHERE ${ofNumbers(sql`t`, broad)} AND of_weight = ${weight} AND health >= ${leastHealth} AND`,
          members: sql`composite_labels`
        }
      }
      if (label !== undefined) {
        return {
          table: sql`composite_label_groups g`,
          size: ofLabelled(g, filter, label),
          totals: sql`composite_label_totals t WHERE ${ofLabel(sql`t`, label)} AND`,
          members: sql`composite_labels`
        }
      }
      return isNarrow(filter)
        ? {
          table: sql`composite_steps g`,
          size: ofStep(g, filter),
          totals: sql`composite_step_totals WHERE of_weight = ${weight} AND health >= ${leastHealth} AND`,
          members: sql`composite_entries`
        }
        : {
          table: sql`composite_groups g`,
          size: ofSize(g, filter),
          totals: sql`composite_totals WHERE`,
          members: sql`composite_entries`
        }
    }

    /** How many groups match: from the totals, or for a vertical or place from the groups. */
    const totalOf = (filter: GroupFilter, keys: ReadonlyArray<Statement.Fragment>) => {
      const { size, table, totals } = countsOf(filter)
      const stored = keys.length === 0
        ? sql`(SELECT coalesce(sum(groups), 0) FROM ${totals} n >= ${filter.minMembers} AND trust >= ${filter.trust}) -
            (SELECT count(*) FROM ${table}
              WHERE ${sql.and(size)} AND g.number = ANY(ARRAY(SELECT group_number FROM marked)))`
        : sql`(SELECT count(*) FROM ${table} WHERE ${sql.and([...keys, ...size, isCounted])})`
      return sql`SELECT ${stored} + (SELECT count(*) FROM recounted g WHERE ${
        sql.and([...keys, ...ofSize(g, filter)])
      })`
    }

    const counted = Effect.fnUntraced(function*(filter: GroupFilter, { after: key, count }: GroupPage) {
      const keys = ofKeys(filter)
      const entries = ofEntry(filter)
      const beyond = [...keys, ...after(g, key)]
      const { members, size, table } = countsOf(filter)
      const columns = sql`g.number, g.id, g.n, g.trust, g.health, g.rank`
      return yield* decodePage(
        yield* sql`${sql.literal(prepared)} WITH ${recounted({ entries, from: members })}, page AS MATERIALIZED (
            SELECT * FROM (
              (SELECT ${columns} FROM ${table} WHERE ${sql.and([...beyond, ...size, isCounted])}
                ORDER BY g.rank, g.id LIMIT ${count})
              UNION ALL SELECT ${columns} FROM recounted g WHERE ${sql.and([...beyond, ...ofSize(g, filter)])}
            ) best ORDER BY rank, id LIMIT ${count}
          ) ${
          pageWith(
            totalOf(filter, keys),
            memberJson(
              sql,
              sql`SELECT e.number, e.score FROM ${members} e
              WHERE ${sql.and([sql`e.group_number = p.number`, ...entries])}
              ORDER BY e.score DESC, e.number LIMIT ${membersListed}`
            )
          )
        }`
      )
    }, dieOnSql)

    /**
     * The groups of some listings: of the CTE `found`. Ids are looked up for groups that may be on the page alone: those
     * of the rank of its last one, or better.
     */
    const ofFound = Effect.fnUntraced(
      function*(found: Statement.Fragment, size: Pick<GroupFilter, "trust" | "minMembers">, page: GroupPage) {
        const key = page.after
        const start = key === undefined ? sql`true` : sql`s.rank >= ${key.rank}`
        const beyond = key === undefined ? sql`true` : sql`s.rank > ${key.rank}`
        return yield* decodePage(
          yield* sql`WITH ${found}, summed AS MATERIALIZED (
              SELECT s.* FROM (
                SELECT e.group_number AS number, true AS is_composite, ${sums} FROM found e
                WHERE e.group_number NOT IN (SELECT number FROM composite_groups WHERE NOT is_composite) GROUP BY 1
              ) s WHERE ${sql.and(ofSize(sql`s`, size))}
            ), page AS MATERIALIZED (
              SELECT g.id, s.* FROM summed s JOIN composite_groups g ON g.number = s.number
              WHERE ${start} AND s.rank <= coalesce(
                  (SELECT s.rank FROM summed s WHERE ${beyond} ORDER BY 1 OFFSET ${page.count - 1} LIMIT 1), 0
                ) ${key === undefined ? sql`` : sql`AND (s.rank, g.id) > (${key.rank}, ${key.id})`}
              ORDER BY s.rank, g.id LIMIT ${page.count}
            ), listed AS MATERIALIZED (
              SELECT * FROM (
                SELECT f.*, row_number() OVER (PARTITION BY f.group_number ORDER BY f.score DESC, f.number) AS place
                FROM found f WHERE f.group_number = ANY(ARRAY(SELECT number FROM page))
              ) f WHERE place <= ${membersListed}
            ) ${
            pageWith(
              sql`SELECT count(*) FROM summed`,
              memberJson(sql, sql`SELECT f.number, f.score FROM listed f WHERE f.group_number = p.number`)
            )
          }`
        )
      },
      dieOnSql
    )

    const fold = foldMarks(sql)

    return { counted, ofFound, fold } as const
  })
}) {}
