import { type SqlClient, type Statement } from "@effect/sql"
import { type Circle } from "./DirectoryQuery.ts"
import { type CityInState, type Location } from "./location.ts"
import { type Predicate, type WordsPredicate } from "./predicates.ts"
import { cellsOf, chordSquared, onSphere } from "./sphere.ts"
import { fromPostings, fromTerms, isCheaperFromPostings, numbersOf, scored } from "./words-sql.ts"

/** The sort key of the last row of a page. */
export interface Key {
  readonly band: number
  readonly rank: number
  readonly number: number
}

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

/** The columns that predicates read: an access path selects no others, so that its index alone can answer. */
const columnsOf = (sql: Sql, predicates: ReadonlyArray<Predicate>) => {
  const has = (tag: Predicate["_tag"]) => predicates.some((predicate) => predicate._tag === tag)
  return [
    ...(has("places") ? [sql`, e.place_id, e.state`] : []),
    ...(predicates.some((predicate) => predicate._tag === "places" && predicate.zip !== undefined)
      ? [sql`, e.zip`]
      : []),
    ...(has("city") ? [sql`, e.place_id`] : []),
    ...(has("circle") ? [sql`, e.x, e.y, e.z`] : []),
    ...(has("words") ? [sql`, e.word_count, e.terms`] : []),
    ...(has("labels") ? [sql`, e.labels`] : []),
    ...(has("tier") ? [sql`, e.tier`] : [])
  ]
}

/** How well an entry matches by what is not words, 0 best. By likeness: missing tenths of trigram similarity. */
const bandOf = (sql: Sql, predicates: ReadonlyArray<Predicate>): Fragment | undefined => {
  const circle = predicates.find(({ _tag }) => _tag === "circle")
  if (circle?._tag === "circle" && circle.ranks) {
    return sql`(sqrt(${distanceSquared(sql, circle.circle)}) * ${unitsOfRadius})::int`
  }
  return predicates.some(({ _tag }) => _tag === "likeness") ? sql`e.band` : undefined
}

export const noPlaces = "{}"

/** A LIKE pattern that matches the text anywhere. */
const anywhere = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`

/** A tier is worth 200 points (relevance.ts), so no entry of the tier ranks below that. */
export const worstRank = (tier: number) => -200 * tier

/** Distances become integers for the cursor: a mile is about 126,000 of these. */
const unitsOfRadius = 500_000_000

/** The square of the straight distance to the centre, on a sphere of radius 1. */
const distanceSquared = (sql: Sql, circle: Circle): Fragment => {
  const { x, y, z } = onSphere(circle)
  return sql`((e.x - ${x}) * (e.x - ${x}) + (e.y - ${y}) * (e.y - ${y}) + (e.z - ${z}) * (e.z - ${z}))`
}

/** The SQL fragments of a search. */
export const Conditions = (sql: Sql) => {
  const every = (conditions: ReadonlyArray<Fragment>): Fragment =>
    conditions.length === 0 ? sql`true` : sql.and(conditions)

  const inCircle = (circle: Circle) => sql`${distanceSquared(sql, circle)} <= ${chordSquared(circle.miles)}`

  /** Matches a part of a city or state; the tables have both in lower case. */
  const contains = (column: Fragment, text: string): Fragment => sql`${column} LIKE lower(${anywhere(text)})`

  const inState = (column: Fragment, { states, text }: Location): Fragment =>
    states.length === 0
      ? contains(column, text)
      : sql`(${contains(column, text)} OR ${column} = ANY(${states}::text[]))`

  /** For rows `p` of `directory_places`: a part of the city's name, whatever its accents; `Saint Louis` is `St. Louis`. */
  const hasInFolded = (text: string) =>
    sql`(directory_place_name(${text}) <> '' AND p.folded LIKE '%' || directory_place_name(${text}) || '%')`

  /** For rows `p` of `directory_places`. */
  const atPlace = ({ city, isWhole, states }: CityInState) =>
    sql`(${isWhole ? sql`p.folded = directory_place_name(${city})` : hasInFolded(city)} AND
      p.state = ANY(${states}::text[]))`

  const placesOf = ({ city, location }: Extract<Predicate, { readonly _tag: "city" }>) =>
    sql`ARRAY(SELECT p.id FROM directory_places p WHERE p.city = lower(${city}) ${
      location === undefined
        ? sql``
        : sql`AND ${
          sql.or([
            contains(sql`p.city`, location.text),
            hasInFolded(location.text),
            inState(sql`p.state`, location),
            ...(location.place === undefined ? [] : [atPlace(location.place)])
          ])
        }`
    })`

  /** Written so that no index applies: the planner must use the access path that was chosen. */
  const filter = (predicate: Predicate): Fragment => {
    switch (predicate._tag) {
      case "places":
        return sql`(e.place_id + 0 = ANY(${predicate.ids}::int[]) OR e.state || '' = ANY(${predicate.states}::text[])
          ${predicate.zip === undefined ? sql`` : sql`OR e.zip || '' = ${predicate.zip}`})`
      case "city":
        return sql`e.place_id + 0 = ANY(${placesOf(predicate)})`
      case "circle":
        return inCircle(predicate.circle)
      case "words":
      case "likeness":
        return sql`true`
      case "labels":
        return sql`(e.labels || '{}') @> ${predicate.ids}::int[]`
      case "tier":
        return sql`e.tier >= ${predicate.tier}`
    }
  }

  /** The rows that satisfy one predicate, through its index. */
  const accessPath = (by: Predicate, predicates: ReadonlyArray<Predicate>): Fragment => {
    // Words and distances are read again for the band.
    const others = predicates.filter((predicate) =>
      predicate !== by || predicate._tag === "words" || (predicate._tag === "circle" && predicate.ranks)
    )
    const columns = sql`e.number, e.rank ${sql.join("", false)(columnsOf(sql, others))}`
    switch (by._tag) {
      case "places":
        // The places are in other states; with OR the indexes alone could not answer.
        return sql.join(" UNION ALL ", false)([
          ...(by.states.length === 0
            ? []
            : [sql`SELECT ${columns} FROM directory_entries e WHERE e.state = ANY(${by.states}::text[])`]),
          ...(by.states.length > 0 && by.ids === noPlaces
            ? []
            : [sql`SELECT ${columns} FROM directory_entries e WHERE e.place_id = ANY(${by.ids}::int[])`]),
          ...(by.zip === undefined ? [] : [sql`SELECT ${columns} FROM directory_entries e WHERE e.zip = ${by.zip} AND
            e.place_id <> ALL(${by.ids}::int[]) AND e.state <> ALL(${by.states}::text[])`])
        ])
      case "city":
        return sql`SELECT ${columns} FROM directory_entries e WHERE e.place_id = ANY(${placesOf(by)})`
      case "circle":
        // A wide circle covers too many cells to list.
        return by.circle.miles > 500
          ? sql`SELECT ${columns} FROM directory_entries e WHERE ${inCircle(by.circle)}`
          : sql`SELECT ${columns} FROM directory_entries e
              WHERE e.cell = ANY(${cellsOf(by.circle)}::int[]) AND ${inCircle(by.circle)}`
      case "words":
        return sql`SELECT ${columns} FROM directory_entries e WHERE e.number = ANY(ARRAY(${numbersOf(sql, by)}))`
      case "likeness":
        return sql`SELECT ${columns}, (10 * (1 - similarity(l.name, ${by.search})))::int AS band FROM listings l
          JOIN directory_entries e ON e.listing_id = l.id
          WHERE l.status = 'active' AND cardinality(show_trgm(${by.search})) > 0 AND l.name % ${by.search}`
      case "labels":
        return sql`SELECT ${columns} FROM directory_entries e WHERE e.labels @> ${by.ids}::int[]`
      case "tier":
        return sql`SELECT ${columns} FROM directory_entries e
          WHERE e.rank <= ${worstRank(by.tier)} AND e.tier >= ${by.tier}`
    }
  }

  /**
   * All rows by rank. For a LIMIT whose value it does not know the planner assumes a tenth of the rows and follows the
   * index; without a LIMIT it would sort.
   */
  const rankOrder = (predicates: ReadonlyArray<Predicate>, start: ReadonlyArray<Fragment>) =>
    sql`SELECT e.number, e.rank ${sql.join("", false)(columnsOf(sql, predicates))} FROM directory_entries e
      WHERE ${every(start)} ORDER BY e.rank, e.number LIMIT (SELECT 2147483647)`

  /** The rows of an access path that satisfy the other predicates. */
  const rowsOf = (by: Predicate, others: ReadonlyArray<Predicate>, predicates: ReadonlyArray<Predicate>): Fragment =>
    sql`SELECT e.* FROM (${accessPath(by, predicates)} OFFSET 0) e WHERE ${every(others.map(filter))}`

  /** The entries of an access path that satisfy the other predicates, scored by their words. */
  const scoredBy = (words: WordsPredicate, by: Predicate, predicates: ReadonlyArray<Predicate>): Fragment => {
    const others = predicates.filter((predicate) => predicate !== by && predicate._tag !== "words")
    if (by !== words || !isCheaperFromPostings(words)) {
      return scored(sql, words, fromTerms(sql, words, rowsOf(by, others, predicates)))
    }
    const { among } = words
    if (among !== undefined) {
      const rest = others.filter((predicate) => predicate !== among)
      return scored(sql, words, fromPostings(sql, words, rowsOf(among, rest, rest)))
    }
    const rows = scored(sql, words, fromPostings(sql, words, undefined))
    return others.length === 0 ? rows : sql`SELECT s.* FROM (${rows} OFFSET 0) s
      JOIN directory_entries e ON e.number = s.number WHERE ${every(others.map(filter))}`
  }

  /**
   * The CTE `matching`: the entries of an access path that satisfy the other predicates. Where not each word of a search is
   * required, those that have the most of them.
   */
  const matching = (by: Predicate, predicates: ReadonlyArray<Predicate>): Fragment => {
    const words = by._tag === "words" ? by : predicates.find((predicate) => predicate._tag === "words")
    const band = bandOf(sql, predicates)
    if (words === undefined) {
      return sql`matching AS MATERIALIZED (SELECT e.number, e.rank, ${band ?? sql`0`} AS band, 0 AS hits
        FROM (${accessPath(by, predicates)} OFFSET 0) e
        WHERE ${every(predicates.filter((predicate) => predicate !== by).map(filter))})`
    }
    const byWords = scoredBy(words, by, predicates)
    const rows = band === undefined ? byWords : sql`SELECT s.number, s.rank, s.hits, ${band} AS band
      FROM (${byWords}) s JOIN directory_entries e ON e.number = s.number`
    return words.least === "all"
      ? sql`matching AS MATERIALIZED (${rows})`
      : sql`candidates AS MATERIALIZED (${rows}), matching AS MATERIALIZED (
          SELECT * FROM candidates WHERE hits = (SELECT max(hits) FROM candidates)
        )`
  }

  const after = (key: Key | undefined): Fragment =>
    key === undefined ? sql`` : sql`WHERE (m.band, m.rank, m.number) > (${key.band}, ${key.rank}, ${key.number})`

  return { atPlace, hasInFolded, every, contains, inState, filter, accessPath, matching, rankOrder, after } as const
}
