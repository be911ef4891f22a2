import { type SqlClient, type Statement } from "@effect/sql"
import { type Spelling } from "./spelling.ts"

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

/** The words of a search (docs/decisions/search-rule.md). */
export interface WordsPredicate {
  readonly _tag: "words"
  /** The rarest first, at most `maxSpellings`. */
  readonly spellings: readonly [Spelling, ...ReadonlyArray<Spelling>]
  /** The words of the search that only order the results, at most `maxStopWords`, each with its number of listings. */
  readonly stopWords: ReadonlyArray<{ readonly id: number; readonly n: number }>
  /**
   * Undefined: an entry must have each word. A number: it must have as many of them as the best entry has; as an access
   * path, entries with one of so many of the rarest words are read.
   */
  readonly rarest: number | undefined
}

/** A search of more words than these is one for the rarest of them. */
export const maxSpellings = 12
export const maxStopWords = 12

const allBits = 2 ** maxSpellings - 1

/**
 * A term's mask has three fields of a bit for each word of the search: those that the term is at level 0, at level 1 or
 * better, and at level 2 or better; then a field of stop words.
 */
interface TermMasks {
  readonly terms: ReadonlyArray<number>
  readonly inName: ReadonlyArray<number>
  readonly elsewhere: ReadonlyArray<number>
}

const termMasks = ({ spellings, stopWords }: WordsPredicate): TermMasks => {
  const found = new Map<number, number>()
  spellings.forEach(({ words }, i) => {
    for (const { id, level } of words) {
      const bits = [0, 1, 2].filter((field) => field >= level).reduce(
        (sum, field) => sum + 2 ** (maxSpellings * field + i),
        0
      )
      found.set(id, (found.get(id) ?? 0) + bits)
    }
  })
  const all = new Map(found)
  stopWords.forEach(({ id }, i) => all.set(id, (all.get(id) ?? 0) + 2 ** (maxSpellings * 3 + i)))
  const [named, others] = [[...all], [...found]]
  return {
    terms: [...named.map(([id]) => id), ...others.map(([id]) => -id)],
    inName: [...named.map(([, mask]) => mask), ...others.map(() => 0)],
    elsewhere: [...named.map(() => 0), ...others.map(([, mask]) => mask)]
  }
}

/** What it costs to fetch an entry and look at its terms, relative to reading a posting. */
const entryCost = 12

const sumOf = (all: ReadonlyArray<{ readonly n: number }>) => all.reduce((sum, { n }) => sum + n, 0)

/** What it costs to read the postings of all words, and to read the entries that have one of the rarest. */
const costsOf = ({ rarest = 1, spellings, stopWords }: WordsPredicate) => ({
  postings: sumOf(spellings) + sumOf(stopWords),
  entries: entryCost * sumOf(spellings.slice(0, rarest))
})

export const isCheaperFromPostings = (words: WordsPredicate): boolean => {
  const { entries, postings } = costsOf(words)
  return postings <= entries
}

/** The lower of the two, in postings. */
export const costOf = (words: WordsPredicate): number => Math.min(...Object.values(costsOf(words)))

/** The terms of a search as rows `asked(term, in_name, elsewhere)`. */
const askedTerms = (sql: Sql, words: WordsPredicate): Fragment => {
  const { elsewhere, inName, terms } = termMasks(words)
  return sql`unnest(${terms}::int[], ${inName}::bigint[], ${elsewhere}::bigint[]) AS asked(term, in_name, elsewhere)`
}

/** What one of each is worth in a band; stop words count down from 99. */
const worth = { missing: 1_000_000, looseness: 100_000, other: 100 }
const maxStops = 99

/**
 * Of rows (number, rank, word_count, in_name, elsewhere), one for each entry: its rank, how many of the words it has, and
 * its band, 0 best: by how many of the words are not in its name; then whether they are there as they were asked for, as
 * beginnings, or with typos; then by the words of its name that were not asked for; then by the stop words it has.
 */
export const scored = (sql: Sql, { spellings }: WordsPredicate, rows: Fragment): Fragment => {
  const int = (n: number) => sql.literal(String(n))
  const field = (mask: Fragment, n: number) => sql`(${mask} >> ${int(maxSpellings * n)} & ${int(allBits)})::int`
  const count = (bits: Fragment) => sql`bit_count(${bits}::bit(${int(maxSpellings)}))::int`
  const masks = [0, 1, 2].map((n) =>
    sql`${field(sql`in_name`, n)} AS name_${int(n)}, ${field(sql`elsewhere`, n)} AS other_${int(n)}`
  )
  /** The words at a level or better: elsewhere only those that are not in the name. */
  const found = (level: 0 | 1 | 2) => sql`(name_${int(level)} | (other_${int(level)} & ~name_2))`
  return sql`SELECT number, rank, hits, (${int(spellings.length)} - named) * ${int(worth.missing)} +
        looseness * ${int(worth.looseness)} + greatest(0, word_count - named - stops) * ${int(worth.other)} +
        ${int(maxStops)} - stops AS band
      FROM (
        SELECT number, rank, word_count, ${count(sql`name_2`)} AS named, ${count(found(2))} AS hits,
          CASE ${found(2)} WHEN ${found(0)} THEN 0 WHEN ${found(1)} THEN 1 ELSE 2 END AS looseness,
          ${count(sql`(in_name >> ${int(maxSpellings * 3)})`)} AS stops
        FROM (SELECT r.*, ${sql.csv(masks)} FROM (${rows}) r OFFSET 0) masks
      ) counted`
}

/** The masks of each entry that has one of the terms, from the postings alone. */
export const fromPostings = (sql: Sql, words: WordsPredicate): Fragment =>
  sql`SELECT p.number, min(p.rank) AS rank, min(p.word_count) AS word_count, bit_or(in_name) AS in_name,
        bit_or(elsewhere) AS elsewhere
      FROM ${askedTerms(sql, words)}, LATERAL (
        SELECT p.* FROM directory_postings p WHERE p.term = asked.term OFFSET 0
      ) p GROUP BY p.number`

/** The masks of rows (number, rank, word_count, terms). */
export const fromTerms = (sql: Sql, words: WordsPredicate, rows: Fragment): Fragment =>
  sql`SELECT e.number, min(e.rank) AS rank, min(e.word_count) AS word_count, bit_or(in_name) AS in_name,
        bit_or(elsewhere) AS elsewhere
      FROM (${rows}) e, unnest(e.terms) AS t(term) JOIN ${askedTerms(sql, words)} ON asked.term = t.term
      GROUP BY e.number`

/** The numbers of the entries that have one of the rarest words. */
export const numbersOf = (sql: Sql, { rarest = 1, spellings }: WordsPredicate): Fragment => {
  const ids = [...new Set(spellings.slice(0, rarest).flatMap(({ words }) => words.map(({ id }) => id)))]
  return sql`SELECT p.number FROM unnest(${[...ids, ...ids.map((id) => -id)]}::int[]) AS a(term), LATERAL (
      SELECT p.number FROM directory_postings p WHERE p.term = a.term OFFSET 0
    ) p`
}

/**
 * The best entries for one word, and the total: a few of each of its terms, in the order of the postings. An entry that
 * has several of the terms counts by its best.
 */
export const bestPostings = (sql: Sql, words: WordsPredicate, count: number): Fragment => {
  const [{ words: fitting }] = words.spellings
  const terms = fitting.flatMap(({ id, level }) => [
    { term: id, band: level * worth.looseness + maxStops, named: 1 },
    { term: -id, band: worth.missing + level * worth.looseness + maxStops, named: 0 }
  ])
  return sql`SELECT number, min(band) AS band, min(rank) AS rank FROM (
      SELECT p.number, p.rank, a.band + greatest(0, p.word_count - a.named) * ${
    sql.literal(String(worth.other))
  } AS band
      FROM unnest(${terms.map(({ term }) => term)}::int[], ${terms.map(({ band }) => band)}::int[],
        ${terms.map(({ named }) => named)}::int[]) AS a(term, band, named),
      LATERAL (
        SELECT p.* FROM directory_postings p WHERE p.term = a.term
        ORDER BY p.word_count, p.rank, p.number LIMIT ${count}
      ) p
    ) best GROUP BY number`
}
