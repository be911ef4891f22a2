import { type SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Order } from "effect"
import { type WordsPredicate } from "./predicates.ts"
import { type Spelling } from "./spelling.ts"

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

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

const int = (sql: Sql, n: number): Fragment => sql.literal(String(n))

/** What it costs to fetch an entry and look at its terms, relative to reading a posting. */
export const entryCost = 12

const sumOf = (all: ReadonlyArray<{ readonly n: number }>) => all.reduce((sum, { n }) => sum + n, 0)

/** The number of postings of all words. */
export const postingsOf = ({ spellings, stopWords }: WordsPredicate): number => sumOf(spellings) + sumOf(stopWords)

/** What it costs to look up a posting in those of another word, relative to grouping it with all others. */
const lookUpCost = 0.6
/** Of the entries that have some words, so many have the next one: names have words that go together. */
const shareWithNext = 0.4

/** To read the entries that have each of the `count` rarest words. */
const costOfRarest = ({ spellings }: WordsPredicate, count: number) =>
  (count === 1 ? 0 : lookUpCost * sumOf(spellings.slice(0, count))) +
  entryCost * spellings[0].n * shareWithNext ** (count - 1)

/** Where each word is required: of how many of the rarest the postings are read before the entries. */
const countOfRarest = (words: WordsPredicate) =>
  Arr.min(
    Arr.range(1, words.spellings.length),
    Order.mapInput(Order.number, (count: number) => costOfRarest(words, count))
  )

/** What it costs to read the postings of all words, and to read the entries that have the rarest. */
const costsOf = (words: WordsPredicate) => ({
  postings: postingsOf(words),
  entries: words.least === "all"
    ? costOfRarest(words, countOfRarest(words))
    : entryCost * sumOf(words.spellings.slice(0, words.rarest))
})

export const isCheaperFromPostings = (words: WordsPredicate): boolean => {
  const { entries, postings } = costsOf(words)
  return words.among !== undefined || postings <= entries
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
  const field = (mask: Fragment, n: number) =>
    sql`(${mask} >> ${int(sql, maxSpellings * n)} & ${int(sql, allBits)})::int`
  const count = (bits: Fragment) => sql`bit_count(${bits}::bit(${int(sql, maxSpellings)}))::int`
  const masks = [0, 1, 2].map((n) =>
    sql`${field(sql`in_name`, n)} AS name_${int(sql, n)}, ${field(sql`elsewhere`, n)} AS other_${int(sql, n)}`
  )
  /** The words at a level or better: elsewhere only those that are not in the name. */
  const found = (level: 0 | 1 | 2) => sql`(name_${int(sql, level)} | (other_${int(sql, level)} & ~name_2))`
  return sql`SELECT number, rank, hits, (${int(sql, spellings.length)} - named) * ${int(sql, worth.missing)} +
        looseness * ${int(sql, worth.looseness)} + greatest(0, word_count - named - stops) * ${int(sql, worth.other)} +
        ${int(sql, maxStops)} - stops AS band
      FROM (
        SELECT number, rank, word_count, ${count(sql`name_2`)} AS named, ${count(found(2))} AS hits,
          CASE ${found(2)} WHEN ${found(0)} THEN 0 WHEN ${found(1)} THEN 1 ELSE 2 END AS looseness,
          ${count(sql`(in_name >> ${int(sql, maxSpellings * 3)})`)} AS stops
        FROM (SELECT r.*, ${sql.csv(masks)} FROM (${rows}) r OFFSET 0) masks
      ) counted`
}

/** Which groups of terms have enough of the words: of all others only this is computed. */
const hasEnough = (sql: Sql, { least, spellings }: WordsPredicate): Fragment => {
  const found = sql`((bit_or(in_name) | bit_or(elsewhere)) >> ${int(sql, maxSpellings * 2)} & ${int(sql, allBits)})`
  switch (least) {
    case "all":
      return sql`${found} = ${int(sql, 2 ** spellings.length - 1)}`
    case 2:
      // Without its lowest bit something is left.
      return sql`${found} & (${found} - 1) <> 0`
    case 1:
      return sql`${found} <> 0`
  }
}

/** The masks of each entry that has enough of the words, from the postings alone; `among`: only of these numbers. */
export const fromPostings = (sql: Sql, words: WordsPredicate, among: Fragment | undefined): Fragment =>
  sql`SELECT p.number, min(p.rank) AS rank, min(p.word_count) AS word_count, bit_or(in_name) AS in_name,
        bit_or(elsewhere) AS elsewhere
      FROM ${askedTerms(sql, words)}, LATERAL (
        SELECT p.* FROM directory_postings p WHERE p.term = asked.term OFFSET 0
      ) p ${among === undefined ? sql`` : sql`JOIN (${among}) among ON among.number = p.number`}
      GROUP BY p.number HAVING ${hasEnough(sql, words)}`

/** The same of rows (number, rank, word_count, terms). */
export const fromTerms = (sql: Sql, words: WordsPredicate, rows: Fragment): Fragment =>
  sql`SELECT e.number, min(e.rank) AS rank, min(e.word_count) AS word_count, bit_or(in_name) AS in_name,
        bit_or(elsewhere) AS elsewhere
      FROM (${rows}) e, unnest(e.terms) AS t(term) JOIN ${askedTerms(sql, words)} ON asked.term = t.term
      GROUP BY e.number HAVING ${hasEnough(sql, words)}`

const numbersWith = (sql: Sql, spellings: ReadonlyArray<Spelling>): Fragment => {
  const ids = [...new Set(spellings.flatMap(({ words }) => words.map(({ id }) => id)))]
  return sql`SELECT p.number FROM unnest(${[...ids, ...ids.map((id) => -id)]}::int[]) AS a(term), LATERAL (
      SELECT p.number FROM directory_postings p WHERE p.term = a.term OFFSET 0
    ) p`
}

/** The numbers of the entries that have one of the rarest words; where each word is required, each of some of them. */
export const numbersOf = (sql: Sql, words: WordsPredicate): Fragment => {
  if (words.least !== "all") return numbersWith(sql, words.spellings.slice(0, words.rarest))
  const [rarest, ...others] = words.spellings.slice(0, countOfRarest(words)).map((spelling) =>
    numbersWith(sql, [spelling])
  )
  return sql`SELECT w.number FROM (${rarest!}) w ${
    others.length === 0 ? sql`` : sql`WHERE ${sql.and(others.map((other) => sql`w.number IN (${other})`))}`
  }`
}

/**
 * The best entries for one word: a few of each of its terms, in the order of the postings. An entry that has several of the
 * terms counts by its best. `inName`: only those that have it in their name, who come before all others.
 */
export const bestPostings = (sql: Sql, { spellings: [{ words }] }: WordsPredicate, inName: boolean, count: number) => {
  const terms = words.flatMap(({ id, level }) => {
    const band = level * worth.looseness + maxStops
    const named = { term: id, band, named: 1 }
    return inName ? [named] : [named, { term: -id, band: worth.missing + band, named: 0 }]
  })
  return sql`SELECT number, min(band) AS band, min(rank) AS rank FROM (
      SELECT p.number, p.rank, a.band + greatest(0, p.word_count - a.named) * ${int(sql, worth.other)} AS band
      FROM unnest(${terms.map(({ term }) => term)}::int[], ${terms.map(({ band }) => band)}::int[],
        ${terms.map(({ named }) => named)}::int[]) AS a(term, band, named),
      LATERAL (
        SELECT p.* FROM directory_postings p WHERE p.term = a.term
        ORDER BY p.word_count, p.rank, p.number LIMIT ${count}
      ) p
    ) best GROUP BY number`
}
