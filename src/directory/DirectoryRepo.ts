import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { publicColumns } from "./Listing.ts"
import { bandOf, Conditions, type Key, type Need, worstRank } from "./search-sql.ts"
import { leastForTwoTypos } from "./spelling.ts"

/** A listing as the public sees it, and where it stands in the list. */
export const FoundRow = Schema.Struct({
  ...publicColumns,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  band: Schema.Int
})
export type FoundRow = typeof FoundRow.Type

const Candidate = Schema.Struct({ asked: Schema.String, word: Schema.NullOr(Schema.String) })
const Places = Schema.Struct({ ids: Schema.Array(Schema.Int), states: Schema.Array(Schema.String) })
const Total = Schema.Struct({ total: Schema.Int })

/** A pattern of LIKE that finds the text anywhere. */
const anywhere = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`

/** One page, best first, of all that matches. */
export interface PageOptions {
  readonly after: Key | undefined
  readonly count: number
}

export class DirectoryRepo extends Effect.Service<DirectoryRepo>()("directory/DirectoryRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { after, driver, every, filter, inOrder } = Conditions(sql)

    const candidates = SqlSchema.findAll({
      Request: Schema.String,
      Result: Candidate,
      execute: (search) =>
        sql`SELECT a.word AS asked, v.word FROM unnest(directory_words(${search})) AS a(word) LEFT JOIN LATERAL (
              SELECT v.word FROM directory_vocabulary v WHERE v.keys && directory_word_keys(a.word)
              UNION SELECT v.word FROM directory_vocabulary v
                WHERE length(a.word) >= 3 AND v.word ~>=~ a.word AND v.word ~<~ (a.word || chr(1114111))
              UNION SELECT v.word FROM directory_vocabulary v
                WHERE length(a.word) >= ${leastForTwoTypos} AND v.word % a.word
            ) v ON true`
    })
    const cities = SqlSchema.single({
      Request: Schema.Struct({ city: Schema.String, location: Schema.NullOr(Schema.String) }),
      Result: Places,
      execute: ({ city, location }) =>
        sql`SELECT coalesce(array_agg(id), '{}') AS ids, '{}'::text[] AS states FROM directory_places
            WHERE city = lower(${city}) ${
          location === null
            ? sql``
            : sql`AND (city LIKE lower(${anywhere(location)}) OR state LIKE lower(${anywhere(location)}))`
        }`
    })
    const located = SqlSchema.single({
      Request: Schema.String,
      Result: Places,
      execute: (location) =>
        sql`WITH whole AS (SELECT coalesce(array_agg(state), '{}') AS states FROM directory_states
              WHERE state LIKE lower(${anywhere(location)}))
            SELECT states, ARRAY(SELECT id FROM directory_places p
              WHERE p.city LIKE lower(${anywhere(location)}) AND p.state <> ALL(whole.states)) AS ids FROM whole`
    })

    const shown =
      sql`l.id, l.business_id, l.business_name, l.business_slug, l.name, l.description, l.categories, l.tags,
      l.featured_image_url, l.city, l.state, l.published_at, l.verification_tier, l.relevance_score, l.latitude,
      l.longitude`

    const decodeFound = Schema.decodeUnknown(Schema.Array(FoundRow))
    const decodeTotal = Schema.decodeUnknown(Schema.Tuple(Total))

    /** Goes through all that the driver finds: one statement for the page and for how many there are. */
    const gathered = Effect.fn("DirectoryRepo.gathered")(
      function*(by: Need, needs: ReadonlyArray<Need>, page: PageOptions) {
        const others = needs.filter((need) => need !== by)
        const band = bandOf(sql, needs)
        const rows = yield* sql`WITH matching AS MATERIALIZED (
            SELECT e.listing_id, e.rank, ${band} AS band FROM (${driver(by, needs)} OFFSET 0) e
            WHERE ${every(others.map(filter))}
          ), page AS (
            SELECT * FROM matching m ${after(page.after)} ORDER BY band, rank, listing_id LIMIT ${page.count}
          )
          SELECT t.total, p.band, ${shown} FROM (SELECT count(*)::int AS total FROM matching) t
          LEFT JOIN page p ON true LEFT JOIN listings l ON l.id = p.listing_id
          ORDER BY p.band, p.rank, p.listing_id`
        const [{ total }] = yield* decodeTotal(rows.slice(0, 1))
        return { total, found: yield* decodeFound(rows.filter((row) => row["id"] !== null)) }
      },
      dieOnSql
    )

    /** Goes through the list from the best on, until the page is full: for what is found at every turn. */
    const walked = Effect.fn("DirectoryRepo.walked")(
      function*(needs: ReadonlyArray<Need>, page: PageOptions) {
        const start = [
          ...needs.flatMap((need) => need._tag === "tier" ? [sql`e.rank <= ${worstRank(need.tier)}`] : []),
          ...(page.after === undefined ? [] : [sql`(e.rank, e.listing_id) > (${page.after.rank}, ${page.after.id})`])
        ]
        const rows = yield* sql`SELECT 0 AS band, ${shown} FROM (
            SELECT listing_id, rank FROM (${inOrder(needs, start)} OFFSET 0) e
            WHERE ${every(needs.map(filter))} ORDER BY rank, listing_id LIMIT ${page.count}
          ) p JOIN listings l ON l.id = p.listing_id ORDER BY p.rank, p.listing_id`
        return yield* decodeFound(rows)
      },
      dieOnSql
    )

    /** How many there are, without looking at any: for what is counted all the time. */
    const counted = (conditions: ReadonlyArray<Statement.Fragment>) =>
      sql`SELECT coalesce(sum(n), 0)::int AS total FROM directory_counts WHERE ${every(conditions)}`.pipe(
        Effect.flatMap(decodeTotal),
        Effect.map(([{ total }]) => total),
        dieOnSql
      )

    const countedBy = (by: {
      readonly category: string
      readonly kind: string | undefined
      readonly tier: number | undefined
      readonly states: ReadonlyArray<string> | undefined
    }) =>
      counted([
        sql`category = ${by.category}`,
        ...(by.kind === undefined ? [] : [sql`(template_type = ${by.kind} OR industry = ${by.kind})`]),
        ...(by.tier === undefined ? [] : [sql`tier >= ${by.tier}`]),
        by.states === undefined ? sql`state IS NULL` : sql`state = ANY(${by.states}::text[])`
      ])

    const countOf = (by: Need, needs: ReadonlyArray<Need>) =>
      sql`SELECT count(*)::int AS total FROM (${driver(by, needs)} OFFSET 0) e
          WHERE ${every(needs.filter((need) => need !== by).map(filter))}`.pipe(
        Effect.flatMap(decodeTotal),
        Effect.map(([{ total }]) => total),
        dieOnSql
      )

    const Plan = Schema.Tuple(Schema.Struct({
      "QUERY PLAN": Schema.Tuple(Schema.Struct({ Plan: Schema.Struct({ "Plan Rows": Schema.Number }) }))
    }))
    /** How many rows a driver will bring, as the statistics of the database have it. */
    const estimate = (by: Need) =>
      sql`EXPLAIN (FORMAT JSON) ${driver(by, [])}`.withoutTransform.pipe(
        Effect.flatMap(Schema.decodeUnknown(Plan)),
        Effect.map(([plan]) => plan["QUERY PLAN"][0].Plan["Plan Rows"]),
        dieOnSql
      )

    /** Adds the changes that came since last time to the rows that they change. */
    const foldCounts = dieOnSql(Effect.asVoid(
      sql`WITH gone AS (DELETE FROM directory_counts WHERE folded IS NULL RETURNING *)
          INSERT INTO directory_counts
            SELECT category, template_type, industry, tier, state, sum(n),
              md5(concat_ws(chr(1), category, template_type, industry, tier, ' ' || state))::uuid AS folded
            FROM gone GROUP BY category, template_type, industry, tier, state ORDER BY folded
          ON CONFLICT (folded) DO UPDATE SET n = directory_counts.n + excluded.n`
    ))

    return {
      /** Each word of the search with the words of the vocabulary that may stand for it. */
      candidates: (search: string) => dieOnSql(candidates(search)),
      /** The places of a city, those of them only that fit the location too. */
      cities: (city: string, location: string | null) => dieOnSql(cities({ city, location })),
      /** The states that fit, and the places elsewhere whose city does. */
      located: (location: string) => dieOnSql(located(location)),
      gathered,
      walked,
      countedBy,
      countOf,
      estimate,
      foldCounts
    } as const
  })
}) {}
