import { publicColumns } from "#src/listings/Listing.ts"
import { dieOnSql, many } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { type Counted, decodeTotal, DirectoryCounts, totalOf } from "./DirectoryCounts.ts"
import { bandOf, Conditions, type Key, type Need, worstRank } from "./search-sql.ts"
import { denseScripts, leastForTwoTypos, leastPrefix } from "./spelling.ts"

/** A listing as the public sees it, and where it stands in the list. */
export const FoundRow = Schema.Struct({
  ...publicColumns,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  band: Schema.Int
})
export type FoundRow = typeof FoundRow.Type

const Candidate = Schema.Struct({ asked: Schema.String, word: Schema.NullOr(Schema.String), n: Schema.Int })
/** Whole states, places elsewhere, and how many entries these have. */
const Located = Schema.Struct({
  states: Schema.Array(Schema.String),
  ids: Schema.String,
  inStates: Schema.Int,
  elsewhere: Schema.Int
})
/** What is to be counted of a location: in its states, and with a label (0: any) of a tier or above elsewhere. */
export interface Counting {
  readonly inStates: Counted
  readonly elsewhere: { readonly label: number; readonly tier: number } | undefined
}
const Label = Schema.Struct({ id: Schema.Int, label: Schema.String })
const mostLabels = 10_000

/** One page, best first, of all that matches. */
export interface PageOptions {
  readonly after: Key | undefined
  readonly count: number
}

export class DirectoryRepo extends Effect.Service<DirectoryRepo>()("directory/DirectoryRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const counts = yield* DirectoryCounts
    const { after, contains, driver, every, filter, inOrder } = Conditions(sql)
    /** A part of a city's name; the shortest are looked up, and the others by their trigrams. */
    const cityContains = (location: string) =>
      /^[ -~]{1,2}$/.test(location) ? sql`p.parts @> ARRAY[lower(${location})]` : contains(sql`p.city`, location)
    const located = (location: string, counting: Counting | undefined) => {
      const inStates = counting === undefined
        ? sql`0`
        : sql`(${counts.sumOf(counting.inStates, sql`state = ANY(whole.states)`)})`
      const elsewhere = counting?.elsewhere === undefined
        ? sql`0`
        : sql`(SELECT coalesce(sum(c.n), 0)::int FROM directory_place_counts c
            WHERE c.label_id = ${counting.elsewhere.label} AND c.tier >= ${counting.elsewhere.tier}
              AND c.place_id = ANY(ARRAY(SELECT id FROM partly)))`
      return sql`WITH whole AS (SELECT coalesce(array_agg(state), '{}') AS states FROM directory_states
              WHERE ${contains(sql`state`, location)}
            ), partly AS MATERIALIZED (SELECT p.id FROM directory_places p, whole
              WHERE ${cityContains(location)} AND p.state <> ALL(whole.states))
            SELECT states, ARRAY(SELECT id FROM partly)::text AS ids, ${inStates} AS in_states, ${elsewhere} AS elsewhere
            FROM whole`.pipe(
        Effect.flatMap(Schema.decodeUnknown(Schema.Tuple(Located))),
        Effect.map(([found]) => found),
        dieOnSql
      )
    }
    const labels = many(Label)((names: ReadonlyArray<string>) =>
      sql`SELECT id, label FROM directory_labels WHERE label = ANY(${names}::text[])`
    )

    const shown =
      sql`l.id, l.business_id, l.business_name, l.business_slug, l.name, l.description, l.categories, l.tags,
      l.featured_image_url, l.city, l.state, l.published_at, l.verification_tier, l.relevance_score, l.latitude,
      l.longitude`

    const decodeFound = Schema.decodeUnknown(Schema.Array(FoundRow))

    const decodePage = Effect.fnUntraced(function*(rows: ReadonlyArray<Record<string, unknown>>) {
      const [{ total }] = yield* decodeTotal(rows.slice(0, 1))
      return { total, found: yield* decodeFound(rows.filter((row) => row["id"] !== null)) }
    })

    /** Goes through all that the driver finds: one statement for the page and for how many there are. */
    const gathered = Effect.fnUntraced(
      function*(by: Need, needs: ReadonlyArray<Need>, page: PageOptions) {
        const others = needs.filter((need) => need !== by)
        const band = bandOf(sql, needs)
        return yield* decodePage(
          yield* sql`WITH matching AS MATERIALIZED (
            SELECT e.listing_id, e.rank, ${band} AS band FROM (${driver(by, needs)} OFFSET 0) e
            WHERE ${every(others.map(filter))}
          ), page AS (
            SELECT * FROM matching m ${after(page.after)} ORDER BY band, rank, listing_id LIMIT ${page.count}
          )
          SELECT t.total, p.band, ${shown} FROM (SELECT count(*)::int AS total FROM matching) t
          LEFT JOIN page p ON true LEFT JOIN listings l ON l.id = p.listing_id
          ORDER BY p.band, p.rank, p.listing_id`
        )
      },
      dieOnSql
    )

    /**
     * Goes through the list from the best on, until the page is full: for what is found at every turn. How many there
     * are is known, or counted beforehand.
     */
    const walked = Effect.fnUntraced(
      function*(needs: ReadonlyArray<Need>, page: PageOptions, total: number | Counted) {
        const start = [
          ...needs.flatMap((need) => need._tag === "tier" ? [sql`e.rank <= ${worstRank(need.tier)}`] : []),
          ...(page.after === undefined ? [] : [sql`(e.rank, e.listing_id) > (${page.after.rank}, ${page.after.id})`])
        ]
        const all = typeof total === "number" ? sql`SELECT ${total}::int AS total` : counts.sumOf(total)
        return yield* decodePage(
          yield* sql`WITH page AS MATERIALIZED (
            SELECT listing_id, rank FROM (${inOrder(needs, start)}) e
            WHERE ${every(needs.map(filter))} ORDER BY rank, listing_id LIMIT ${page.count}
          )
          SELECT t.total, 0 AS band, ${shown} FROM (${all}) t
          LEFT JOIN page p ON true LEFT JOIN listings l ON l.id = p.listing_id ORDER BY p.rank, p.listing_id`
        )
      },
      dieOnSql
    )

    const countOf = (by: Need, needs: ReadonlyArray<Need>) =>
      totalOf(sql`SELECT count(*)::int AS total FROM (${driver(by, needs)}) e
          WHERE ${every(needs.filter((need) => need !== by).map(filter))}`)

    const known = new Map<string, number>()
    /** The ids of labels; none when one of them is no listing's. They are remembered: they never change. */
    const labelIds = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
      const ids = new Map(names.map((name) => [name, known.get(name)]))
      const unknown = names.filter((name) => ids.get(name) === undefined)
      const fresh = unknown.length === 0 ? [] : yield* labels(unknown)
      if (known.size > mostLabels) known.clear()
      for (const { id, label } of fresh) {
        known.set(label, id)
        ids.set(label, id)
      }
      return Option.all([...ids.values()].map(Option.fromNullable))
    })

    const Plan = Schema.Tuple(Schema.Struct({
      "QUERY PLAN": Schema.Tuple(Schema.Struct({ Plan: Schema.Struct({ "Plan Rows": Schema.Number }) }))
    }))
    /** How many rows a driver will bring: words are counted, for the others the database has statistics. */
    const estimate = (by: Need) =>
      by._tag === "words"
        ? Effect.succeed(Math.min(...by.spellings.map(({ n }) => n)))
        : sql`EXPLAIN (FORMAT JSON) ${driver(by, [])}`.withoutTransform.pipe(
          Effect.flatMap(Schema.decodeUnknown(Plan)),
          Effect.map(([plan]) => plan["QUERY PLAN"][0].Plan["Plan Rows"]),
          dieOnSql
        )

    return {
      /** Each word of the search with the words of the vocabulary that may stand for it. */
      candidates: many(Candidate)((search: string) =>
        sql`SELECT a.word AS asked, v.word,
              (SELECT coalesce(sum(c.n), 0)::int FROM directory_word_counts c WHERE c.word = v.word) AS n
            FROM unnest(directory_words(${search})) AS a(word) LEFT JOIN LATERAL (
              SELECT v.word FROM directory_vocabulary v WHERE v.keys && directory_word_keys(a.word)
              UNION SELECT v.word FROM directory_vocabulary v
                WHERE (length(a.word) >= ${leastPrefix} OR a.word ~ ${denseScripts})
                  AND v.word ~>=~ a.word AND v.word ~<~ (a.word || chr(1114111))
              UNION SELECT v.word FROM directory_vocabulary v
                WHERE length(a.word) >= ${leastForTwoTypos} AND v.word % a.word
            ) v ON true`
      ),
      /** The states that fit, the places elsewhere whose city does, and what is counted of them. */
      located,
      labelIds,
      among: counts.among,
      gathered,
      walked,
      counted: counts.counted,
      countOf,
      estimate
    } as const
  })
}) {}
