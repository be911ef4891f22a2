import { prepared } from "#src/format/prepared.ts"
import { Count, dieOnSql, one, transactionally } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type GroupFilter, type GroupKey, GroupSql } from "./group-sql.ts"
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

export interface GroupPage {
  readonly after: GroupKey | undefined
  readonly count: number
}

/** Each group of a page has so many members listed. */
const membersListed = 10

/** Marks that one statement takes. */
const foldBatch = 20_000

/** Pages of groups, best first. All groups are counted in advance, or those of some listings as they are now. */
export class GroupsRepo extends Effect.Service<GroupsRepo>()("composites/GroupsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { after, isCounted, ofKeys, ofSize, recounted, sums, verifiedSums } = GroupSql(sql)
    const g = sql`g`

    const decodePage = Effect.fnUntraced(function*(rows: ReadonlyArray<Record<string, unknown>>) {
      const [{ total }] = yield* Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ total: Schema.Int })))(
        rows.slice(0, 1)
      )
      return { total, rows: yield* Schema.decodeUnknown(Schema.Array(GroupRow))(rows.filter(({ id }) => id !== null)) }
    })

    /** `members`: a statement of the members of the group `p.number`, as one JSON array. */
    const pageWith = (total: Statement.Fragment, members: Statement.Fragment) =>
      sql`SELECT t.total, p.id, p.n, p.trust, round(p.health::numeric / p.n, 2)::float8 AS avg_health, p.rank,
            (${members}) AS members, c.name, c.slug, c.created_at, c.updated_at
          FROM (SELECT (${total})::int AS total) t LEFT JOIN page p ON true LEFT JOIN composites c ON c.id = p.id
          ORDER BY p.rank, p.id`

    /** How many groups match: from the totals, or for a vertical or place from the groups. */
    const totalOf = (filter: GroupFilter, keys: ReadonlyArray<Statement.Fragment>) => {
      const size = ofSize(g, filter)
      const stored = keys.length === 0
        ? sql`(SELECT coalesce(sum(groups), 0) FROM composite_totals
              WHERE n >= ${filter.minMembers} AND trust >= ${filter.trust}) -
            (SELECT count(*) FROM composite_groups g
              WHERE ${sql.and(size)} AND g.number = ANY(ARRAY(SELECT group_number FROM marked)))`
        : sql`(SELECT count(*) FROM composite_groups g WHERE ${sql.and([...keys, ...size, isCounted])})`
      return sql`SELECT ${stored} + (SELECT count(*) FROM recounted g WHERE ${sql.and([...keys, ...size])})`
    }

    const counted = Effect.fnUntraced(function*(filter: GroupFilter, { after: key, count }: GroupPage) {
      const keys = ofKeys(filter)
      const matching = [...keys, ...ofSize(g, filter), ...after(g, key)]
      const columns = sql`g.number, g.id, g.n, g.trust, g.health, g.rank`
      return yield* decodePage(
        yield* sql`${sql.literal(prepared)} WITH ${recounted}, page AS MATERIALIZED (
            SELECT * FROM (
              (SELECT ${columns} FROM composite_groups g WHERE ${sql.and([...matching, isCounted])}
                ORDER BY g.rank, g.id LIMIT ${count})
              UNION ALL SELECT ${columns} FROM recounted g WHERE ${sql.and(matching)}
            ) best ORDER BY rank, id LIMIT ${count}
          ) ${
          pageWith(
            totalOf(filter, keys),
            memberJson(
              sql,
              sql`SELECT e.number, e.score FROM composite_entries e WHERE e.group_number = p.number
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

    /**
     * Counts groups that changed, and takes their marks, in one statement: what it counts is what the marks told of. One at
     * a time, or an older count could come last.
     */
    const foldSome = one(Count)(() =>
      sql`WITH taken AS (
          DELETE FROM composite_marks WHERE ctid = ANY(ARRAY(SELECT ctid FROM composite_marks LIMIT ${foldBatch}))
          RETURNING group_number
        ), changed AS MATERIALIZED (SELECT DISTINCT group_number FROM taken),
        fresh AS MATERIALIZED (
          SELECT c.group_number AS number, s.* FROM changed c LEFT JOIN (
            SELECT e.group_number, ${sums}, ${verifiedSums} FROM composite_entries e
            WHERE e.group_number = ANY(ARRAY(SELECT group_number FROM changed)) GROUP BY 1
          ) s USING (group_number)
        ), moved AS (
          SELECT n, trust, sum(by) AS by FROM (
            SELECT g.n, g.trust, -1 AS by FROM changed c JOIN composite_groups g ON g.number = c.group_number
            WHERE g.is_composite
            UNION ALL SELECT coalesce(f.n, 0), coalesce(f.trust, 0), 1 FROM fresh f JOIN composite_groups g USING (number)
            WHERE g.is_composite
          ) moves WHERE n > 0 GROUP BY 1, 2 HAVING sum(by) <> 0
        ), totals AS (
          INSERT INTO composite_totals AS t (n, trust, groups) SELECT n, trust, by FROM moved
          ON CONFLICT (n, trust) DO UPDATE SET groups = t.groups + excluded.groups
        ), stored AS (
          UPDATE composite_groups g SET n = coalesce(f.n, 0), trust = coalesce(f.trust, 0), health = coalesce(f.health, 0),
            weight = coalesce(f.weight, 0), rank = coalesce(f.rank, 0), verified_n = coalesce(f.verified_n, 0),
            verified_trust = coalesce(f.verified_trust, 0), verified_health = coalesce(f.verified_health, 0)
          FROM fresh f WHERE g.number = f.number
        )
        SELECT count(*)::int AS count FROM taken`
    )
    const fold = Effect.repeat(
      Effect.zipRight(
        sql`SELECT pg_advisory_xact_lock(hashtext('composite_marks'))`,
        Effect.zipRight(sql`SET LOCAL statement_timeout = 600000`, foldSome())
      ).pipe(transactionally(sql)),
      { until: (count) => count < foldBatch }
    )

    return { counted, ofFound, fold } as const
  })
}) {}
