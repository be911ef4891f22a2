import { type SqlClient, type Statement } from "@effect/sql"
import { type Circle } from "./DirectoryQuery.ts"
import { type Spelling } from "./spelling.ts"
import { cellsOf, chordSquared, onSphere } from "./sphere.ts"

/** One condition of a search. It can also drive the search: find what fits without looking at the rest. */
export type Need =
  /** Places, and all of some states. The ids stay an array of PostgreSQL's, `{1,2}`: there may be thousands. */
  | { readonly _tag: "places"; readonly ids: string; readonly states: ReadonlyArray<string> }
  /** The places of a city, those of them only that fit the location too. */
  | { readonly _tag: "city"; readonly city: string; readonly location: string | undefined }
  | { readonly _tag: "circle"; readonly circle: Circle }
  | { readonly _tag: "words"; readonly spellings: ReadonlyArray<Spelling> }
  /** The whole name by trigrams, where a word is like none that is known. */
  | { readonly _tag: "likeness"; readonly search: string }
  /** All of these: a category, a template type or industry. */
  | { readonly _tag: "labels"; readonly ids: ReadonlyArray<number> }
  | { readonly _tag: "tier"; readonly tier: number }

/** Where a page ended. */
export interface Key {
  readonly band: number
  readonly rank: number
  readonly id: string
}

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

/** Columns that conditions look at: a driver hands on only those, so that an index alone can answer. */
const columnsOf = (sql: Sql, needs: ReadonlyArray<Need>) => {
  const has = (tag: Need["_tag"]) => needs.some((need) => need._tag === tag)
  return [
    ...(has("places") ? [sql`, e.place_id, e.state`] : []),
    ...(has("city") ? [sql`, e.place_id`] : []),
    ...(has("circle") ? [sql`, e.x, e.y, e.z`] : []),
    ...(has("words") ? [sql`, e.words, e.word_count`] : []),
    ...(has("labels") ? [sql`, e.labels`] : []),
    ...(has("tier") ? [sql`, e.tier`] : [])
  ]
}

/**
 * How well a name fits a search, 0 best. By words: the name is these words and no others; it has them; it has words
 * that begin with them; with typos. By likeness: tenths of trigram similarity that are missing.
 */
export const bandOf = (sql: Sql, needs: ReadonlyArray<Need>): Fragment => {
  const need = needs.find(({ _tag }) => _tag === "words" || _tag === "likeness")
  if (need?._tag === "likeness") return sql`e.band`
  if (need?._tag !== "words") return sql`0`
  const asked = need.spellings.map((spelling) => spelling.asked)
  const exact = sql`e.words @> ${asked}::text[]`
  const within = (level: 1) =>
    sql.and(need.spellings.map((spelling) => sql`e.words && ${spelling.levels[level]}::text[]`))
  const looser = (level: 0 | 1) =>
    need.spellings.some(({ levels }) => levels[level].length < levels[level === 0 ? 1 : 2].length)
  return sql`CASE WHEN ${exact} THEN CASE WHEN e.word_count = ${asked.length} THEN 0 ELSE 1 END ${
    looser(0) && looser(1) ? sql`WHEN ${within(1)} THEN 2` : sql``
  } ELSE ${looser(1) ? sql`3` : sql`2`} END`
}

export const noPlaces = "{}"

/** A pattern of LIKE that finds the text anywhere. */
const anywhere = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`

/** A tier is worth 200 points (relevance.ts): nothing of the tier ranks below that. */
export const worstRank = (tier: number) => -200 * tier

const fewWords = 30

/** The parts of the statements of a search. */
export const Conditions = (sql: Sql) => {
  const every = (conditions: ReadonlyArray<Fragment>): Fragment =>
    conditions.length === 0 ? sql`true` : sql.and(conditions)

  const inCircle = (circle: Circle) => {
    const { x, y, z } = onSphere(circle)
    return sql`(e.x - ${x}) * (e.x - ${x}) + (e.y - ${y}) * (e.y - ${y}) + (e.z - ${z}) * (e.z - ${z}) <= ${
      chordSquared(circle.miles)
    }`
  }

  /** What `location` fits: a part of a city or of a state; both are kept in lower case. */
  const contains = (column: Fragment, location: string): Fragment => sql`${column} LIKE lower(${anywhere(location)})`

  const placesOf = ({ city, location }: Extract<Need, { readonly _tag: "city" }>) =>
    sql`ARRAY(SELECT p.id FROM directory_places p WHERE p.city = lower(${city}) ${
      location === undefined
        ? sql``
        : sql`AND (${contains(sql`p.city`, location)} OR ${contains(sql`p.state`, location)})`
    })`

  const hasOneOf = (words: ReadonlyArray<string>) => sql`(e.words || '{}') && ${words}::text[]`

  /** Forms that no index answers, where one could: which index is used is not left to a guess. */
  const filter = (need: Need): Fragment => {
    switch (need._tag) {
      case "places":
        return sql`(e.place_id + 0 = ANY(${need.ids}::int[]) OR e.state || '' = ANY(${need.states}::text[]))`
      case "city":
        return sql`e.place_id + 0 = ANY(${placesOf(need)})`
      case "circle":
        return inCircle(need.circle)
      case "words":
        return every(need.spellings.map(({ levels }) => hasOneOf(levels[2])))
      case "likeness":
        return sql`true`
      case "labels":
        return sql`(e.labels || '{}') @> ${need.ids}::int[]`
      case "tier":
        return sql`e.tier >= ${need.tier}`
    }
  }

  /**
   * Entries with a spelling of each word, through the index. It is asked for a few words at once; the planner thinks that
   * comparing a row with many costs no more than with one, and would compare them all: many are looked up one by one.
   */
  const worded = (spellings: ReadonlyArray<Spelling>): Fragment => {
    const words = [...spellings].sort((a, b) => a.n - b.n).map(({ levels }) => levels[2])
    const few = words.filter(({ length }) => length <= fewWords)
    const many = words.filter(({ length }) => length > fewWords)
    if (few.length > 0) return every([...few.map((some) => sql`e.words && ${some}::text[]`), ...many.map(hasOneOf)])
    const [first = [], ...others] = many
    const found = sql`SELECT x.ctid FROM unnest(${first}::text[]) AS w(word),
      LATERAL (SELECT y.ctid FROM directory_entries y WHERE y.words @> ARRAY[w.word] OFFSET 0) x`
    return every([sql`e.ctid = ANY(ARRAY(${found}))`, ...others.map(hasOneOf)])
  }

  /** The rows that one condition finds through its index. */
  const driver = (by: Need, needs: ReadonlyArray<Need>): Fragment => {
    // Only words are looked at again, for the band.
    const others = needs.filter((need) => need !== by || need._tag === "words")
    const columns = sql`e.listing_id, e.rank ${sql.join("", false)(columnsOf(sql, others))}`
    switch (by._tag) {
      case "places":
        return sql`SELECT ${columns} FROM directory_entries e WHERE ${
          sql.or([
            ...(by.states.length === 0 ? [] : [sql`e.state = ANY(${by.states}::text[])`]),
            ...(by.states.length > 0 && by.ids === noPlaces ? [] : [sql`e.place_id = ANY(${by.ids}::int[])`])
          ])
        }`
      case "city":
        return sql`SELECT ${columns} FROM directory_entries e WHERE e.place_id = ANY(${placesOf(by)})`
      case "circle":
        // A wide circle has more squares than are worth naming.
        return by.circle.miles > 500
          ? sql`SELECT ${columns} FROM directory_entries e WHERE ${inCircle(by.circle)}`
          : sql`SELECT ${columns} FROM directory_entries e
              WHERE e.cell = ANY(${cellsOf(by.circle)}::int[]) AND ${inCircle(by.circle)}`
      case "words":
        return sql`SELECT ${columns} FROM directory_entries e WHERE ${worded(by.spellings)}`
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
   * All rows, best first. Of a limit that it can't know yet the planner expects a tenth of them, and so follows the
   * index; without one it would sort.
   */
  const inOrder = (needs: ReadonlyArray<Need>, start: ReadonlyArray<Fragment>) =>
    sql`SELECT e.listing_id, e.rank ${sql.join("", false)(columnsOf(sql, needs))} FROM directory_entries e
      WHERE ${every(start)} ORDER BY e.rank, e.listing_id LIMIT (SELECT 2147483647)`

  const after = (key: Key | undefined): Fragment =>
    key === undefined ? sql`` : sql`WHERE (m.band, m.rank, m.listing_id) > (${key.band}, ${key.rank}, ${key.id})`

  return { every, contains, filter, driver, inOrder, after } as const
}
