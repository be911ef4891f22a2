import { type SqlClient, type Statement } from "@effect/sql"
import { type Spelling } from "./spelling.ts"

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

/** The words of a search (docs/decisions/search-rule.md). */
export interface WordsPredicate {
  readonly _tag: "words"
  /** The rarest first. */
  readonly spellings: readonly [Spelling, ...ReadonlyArray<Spelling>]
  /** The words of the search that only order the results. */
  readonly stopWords: ReadonlyArray<string>
  /**
   * Undefined: an entry must have each word. A number: it must have as many of them as the best entry has; as an access
   * path, entries with one of so many of the rarest words are read.
   */
  readonly rarest: number | undefined
}

/** How many of the words an entry has, by the spellings up to a level. */
export const countOfWords = (
  sql: Sql,
  column: Fragment,
  { spellings }: WordsPredicate,
  level: 0 | 1 | 2
): Fragment =>
  sql`(${sql.join(" + ", false)(spellings.map(({ levels }) => sql`(${column} && ${levels[level]}::text[])::int`))})`

/**
 * How well an entry matches the words it has, 0 best: by how many of them are not in its name; then whether they are
 * there as they were asked for, as beginnings, or with typos; then by the words of its name that were not asked for; then by
 * the stop words it has.
 */
export const bandOfWords = (sql: Sql, words: WordsPredicate): Fragment => {
  const inName = countOfWords(sql, sql`e.words`, words, 2)
  const found = countOfWords(sql, sql`e.found_by`, words, 2)
  const looser = (level: 0 | 1) =>
    words.spellings.some(({ levels }) => levels[level].length < levels[level === 0 ? 1 : 2].length)
  const isWithin = (level: 0 | 1) => sql`${countOfWords(sql, sql`e.found_by`, words, level)} = ${found}`
  const looseness = !looser(0) && !looser(1)
    ? sql`0`
    : sql`CASE WHEN ${isWithin(0)} THEN 0 ${looser(0) && looser(1) ? sql`WHEN ${isWithin(1)} THEN 1` : sql``} ELSE ${
      looser(1) ? sql`2` : sql`1`
    } END`
  const stops = words.stopWords.length === 0
    ? sql`0`
    : sql`(${sql.join(" + ", false)(words.stopWords.map((word) => sql`(e.words @> ${[word]}::text[])::int`))})`
  return sql`(${words.spellings.length} - ${inName}) * 1000 + ${looseness} * 100 +
    least(9, greatest(0, e.word_count - ${inName} - ${stops})) * 10 + 9 - least(9, ${stops})`
}
