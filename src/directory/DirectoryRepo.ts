import { prepared } from "#src/format/prepared.ts"
import { publicColumns } from "#src/listings/Listing.ts"
import { decodePassing } from "#src/shared/passing.ts"
import { dieOnSql, many } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { type CountKey, DirectoryCounts, totalOf } from "./DirectoryCounts.ts"
import { type Location } from "./location.ts"
import { type Predicate, type WordsPredicate } from "./predicates.ts"
import { Conditions, type Key, worstRank } from "./search-sql.ts"
import { candidatesOf, placeWordsOf, vocabularyOf } from "./vocabulary-sql.ts"
import { bestPostings, numbersOf } from "./words-sql.ts"

/** A listing as the public sees it, and its band in the ranking. */
export const FoundRow = Schema.Struct({
  ...publicColumns,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  isPlaceApproximate: Schema.Boolean,
  serverSlug: Schema.NullOr(Schema.String),
  number: Schema.Int,
  band: Schema.Int
})
export type FoundRow = typeof FoundRow.Type

const KindWord = Schema.Struct({ id: Schema.Int, word: Schema.String, n: Schema.Int })
const Candidate = Schema.Struct({
  asked: Schema.String,
  ids: Schema.Array(Schema.Int),
  words: Schema.Array(Schema.String),
  counts: Schema.Array(Schema.Int),
  total: Schema.NullOr(Schema.Int)
})
/** The states that match a location, the places in other states that do, and the number of entries of both. */
const Located = Schema.Struct({
  states: Schema.Array(Schema.String),
  ids: Schema.String,
  inStates: Schema.Int,
  elsewhere: Schema.Int
})
/** What to count at a location: in its states by a key, and elsewhere by a label (0: any) at a tier or above. */
export interface Counting {
  readonly inStates: CountKey
  readonly elsewhere: { readonly label: number; readonly tier: number } | undefined
}
const Label = Schema.Struct({ id: Schema.Int, label: Schema.String })
const maxCachedLabels = 10_000
/** One page in the order of the ranking; `after`: the last row of the page before. */
export interface PageOptions {
  readonly after: Key | undefined
  readonly count: number
}

export class DirectoryRepo extends Effect.Service<DirectoryRepo>()("directory/DirectoryRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const counts = yield* DirectoryCounts
    const { after, atPlace, contains, hasInFolded, inState, accessPath, every, filter, matching, rankOrder } =
      Conditions(sql)
    /** Matches a part of a city's name. One or two letters are too short for trigrams and have a column of their own. */
    const cityContains = (text: string) =>
      /^[ -~]{1,2}$/.test(text)
        ? sql`p.parts @> ARRAY[lower(${text})]`
        : sql`(${contains(sql`p.city`, text)} OR ${hasInFolded(text)})`
    const inCity = ({ place, text }: Location) =>
      place === undefined ? cityContains(text) : sql`(${cityContains(text)} OR ${atPlace(place)})`
    const located = (location: Location, counting: Counting | undefined) => {
      const inStates = counting === undefined
        ? sql`0`
        : sql`(${counts.sumOf(counting.inStates, sql`state = ANY(whole.states)`)})`
      const elsewhere = counting?.elsewhere === undefined
        ? sql`0`
        : sql`(SELECT coalesce(sum(c.n), 0)::int FROM directory_place_counts c
            WHERE c.label_id = ${counting.elsewhere.label} AND c.tier >= ${counting.elsewhere.tier}
              AND c.place_id = ANY(ARRAY(SELECT id FROM partly)))`
      return sql`WITH whole AS (SELECT coalesce(array_agg(state), '{}') AS states FROM directory_states
              WHERE ${inState(sql`state`, location)}
            ), partly AS MATERIALIZED (SELECT p.id FROM directory_places p, whole
              WHERE ${inCity(location)} AND p.state <> ALL(whole.states))
            SELECT states, ARRAY(SELECT id FROM partly)::text AS ids, ${inStates} AS in_states, ${elsewhere} AS elsewhere
            FROM whole`.pipe(
        Effect.flatMap(decodePassing(Schema.Tuple(Located))),
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
      l.longitude, l.is_place_approximate, l.number, s.slug AS server_slug`
    const details = sql`LEFT JOIN listings l ON l.number = p.number LEFT JOIN businesses b ON b.id = l.business_id
      LEFT JOIN servers s ON s.id = b.server_id`

    const decodeTotals = decodePassing(Schema.Tuple(
      Schema.Struct({ total: Schema.Int, hits: Schema.optional(Schema.Int) })
    ))
    const decodeFound = decodePassing(Schema.Array(FoundRow))

    const decodePage = Effect.fnUntraced(function*(rows: ReadonlyArray<Record<string, unknown>>) {
      const [{ hits = 0, total }] = yield* decodeTotals(rows.slice(0, 1).map(({ hits, total }) => ({ hits, total })))
      const found = rows.filter((row) => row["id"] !== null).map(({ hits: _, total: __, ...row }) => row)
      return { total, hits, rows: yield* decodeFound(found) }
    })

    /** With words alone one plan fits all values; places and labels are planned by how common they are. */
    const mark = (by: Predicate, predicates: ReadonlyArray<Predicate>) =>
      sql.literal([by, ...predicates].every(({ _tag }) => _tag === "words") ? prepared : "")

    /** Reads every row of the access path, filters them, and returns page and total in one statement. */
    const indexScan = Effect.fnUntraced(
      function*(by: Predicate, predicates: ReadonlyArray<Predicate>, page: PageOptions) {
        return yield* decodePage(
          yield* sql`${mark(by, predicates)} WITH ${matching(by, predicates)}, page AS (
            SELECT * FROM matching m ${after(page.after)} ORDER BY band, rank, number LIMIT ${page.count}
          )
          SELECT t.total, t.hits, p.band, ${shown} FROM (
            SELECT count(*)::int AS total, coalesce(max(hits), 0)::int AS hits FROM matching
          ) t
          LEFT JOIN page p ON true ${details} ORDER BY p.band, p.rank, p.number`
        )
      },
      dieOnSql
    )

    /**
     * Reads the entries in the order of their rank until the page is full: for predicates that most entries satisfy. The
     * total is known, or comes from the counts.
     */
    const rankScan = Effect.fnUntraced(
      function*(predicates: ReadonlyArray<Predicate>, page: PageOptions, total: number | CountKey) {
        const start = [
          ...predicates.flatMap((predicate) =>
            predicate._tag === "tier" ? [sql`e.rank <= ${worstRank(predicate.tier)}`] : []
          ),
          ...(page.after === undefined ? [] : [sql`(e.rank, e.number) > (${page.after.rank}, ${page.after.number})`])
        ]
        const all = typeof total === "number" ? sql`SELECT ${total}::int AS total` : counts.sumOf(total)
        return yield* decodePage(
          yield* sql`WITH page AS MATERIALIZED (
            SELECT number, rank FROM (${rankOrder(predicates, start)}) e
            WHERE ${every(predicates.map(filter))} ORDER BY rank, number LIMIT ${page.count}
          )
          SELECT t.total, 0 AS band, ${shown} FROM (${all}) t
          LEFT JOIN page p ON true ${details} ORDER BY p.rank, p.number`
        )
      },
      dieOnSql
    )

    /** The first page of a search for one word, from the postings; `inName`: only those that have it in their name. */
    const postingsScan = Effect.fnUntraced(
      function*(words: WordsPredicate, inName: boolean, count: number) {
        const [{ total }] = words.spellings
        const all = total === undefined
          ? sql`SELECT count(*)::int AS total FROM (SELECT DISTINCT number FROM (${numbersOf(sql, words)}) n) d`
          : sql`SELECT ${total}::int AS total`
        return yield* decodePage(
          yield* sql`${sql.literal(prepared)} WITH page AS MATERIALIZED (
            SELECT * FROM (${bestPostings(sql, words, inName, count)}) b ORDER BY band, rank, number LIMIT ${count}
          )
          SELECT t.total, p.band, ${shown} FROM (${all}) t
          LEFT JOIN page p ON true ${details} ORDER BY p.band, p.rank, p.number`
        )
      },
      dieOnSql
    )

    const countOf = (by: Predicate, predicates: ReadonlyArray<Predicate>) =>
      totalOf(sql`SELECT count(*)::int AS total FROM (${accessPath(by, predicates)}) e
          WHERE ${every(predicates.filter((predicate) => predicate !== by).map(filter))}`)

    const cachedIds = new Map<string, number>()
    /** The ids of labels; none when a label has no listing. Cached: ids never change. */
    const labelIds = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
      const ids = new Map(names.map((name) => [name, cachedIds.get(name)]))
      const missing = names.filter((name) => ids.get(name) === undefined)
      const fresh = missing.length === 0 ? [] : yield* labels(missing)
      if (cachedIds.size > maxCachedLabels) cachedIds.clear()
      for (const { id, label } of fresh) {
        cachedIds.set(label, id)
        ids.set(label, id)
      }
      return Option.all([...ids.values()].map(Option.fromNullable))
    })

    const Plan = Schema.Tuple(Schema.Struct({
      "QUERY PLAN": Schema.Tuple(Schema.Struct({ Plan: Schema.Struct({ "Plan Rows": Schema.Number }) }))
    }))
    /** The number of rows of an access path, as PostgreSQL's statistics estimate it. */
    const cardinality = (by: Predicate) =>
      sql`EXPLAIN (FORMAT JSON) ${accessPath(by, [])}`.withoutTransform.pipe(
        Effect.flatMap(Schema.decodeUnknown(Plan)),
        Effect.map(([plan]) => plan["QUERY PLAN"][0].Plan["Plan Rows"]),
        dieOnSql
      )

    return {
      /** Each word of the search with the words of the vocabulary that may be a spelling of it. */
      candidates: many(Candidate)((search: string) => candidatesOf(sql, search)),
      /** Those of the words that the vocabulary has, and how many listings have each. */
      vocabularyOf: many(KindWord)((words: ReadonlyArray<string>) => vocabularyOf(sql, words)),
      /** Those of the words that are part of a city's or a state's name. */
      placeWordsOf: many(Schema.Struct({ word: Schema.String }))((words: ReadonlyArray<string>) =>
        placeWordsOf(sql, words)
      ),
      /** The states that match, the places in other states whose city matches, and their counts. */
      located,
      labelIds,
      approximateCount: counts.approximateCount,
      indexScan,
      rankScan,
      postingsScan,
      counted: counts.counted,
      countOf,
      cardinality
    } as const
  })
}) {}
