import { prepared } from "#src/format/prepared.ts"
import { type SqlClient, type Statement } from "@effect/sql"
import { maxWords, minLengthForOneTypo, minLengthForTwoTypos } from "./spelling.ts"

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

/** A search of more words is one for the longest of them. */
const maxAsked = 16
/** So many of the words that trigrams find: more than there are but where somebody lists words to make searches slow. */
const maxSimilar = 2_000

const countOfWord = (sql: Sql, word: Fragment) =>
  sql`(SELECT sum(c.n)::int FROM directory_word_counts c WHERE c.word = ${word})`

/** Through an index of `text_pattern_ops`. */
const beginsWith = (sql: Sql, column: Fragment, start: Fragment) =>
  sql`${column} ~>=~ ${start} AND ${column} ~<~ (${start} || chr(1114111))`

/**
 * For each word of a search (asked, ids, words, counts, total): the words of the vocabulary that begin with it or may be a
 * spelling of it, how many listings have each, and how many have one that begins so.
 */
export const candidatesOf = (sql: Sql, search: string) =>
  sql`${sql.literal(prepared)} SELECT a.word AS asked, v.*, ${countOfWord(sql, sql`a.word || '*'`)} AS total
    FROM (
      SELECT word FROM unnest(directory_words(${search})) AS word ORDER BY length(word) DESC LIMIT ${maxAsked}
    ) a, LATERAL (
      SELECT coalesce(array_agg(id), '{}') AS ids, coalesce(array_agg(word), '{}') AS words,
        coalesce(array_agg(n), '{}') AS counts
      FROM (
        SELECT v.id, v.word, coalesce(${countOfWord(sql, sql`v.word`)}, 0) AS n FROM (
          (SELECT v.id, v.word FROM directory_vocabulary v
            WHERE length(a.word) >= ${minLengthForOneTypo} AND v.keys && directory_word_keys(a.word)
            LIMIT ${maxWords})
          -- A word without trigrams, as in many scripts, would have the index read from end to end.
          UNION (SELECT v.id, v.word FROM directory_vocabulary v
            WHERE length(a.word) >= ${minLengthForTwoTypos} AND cardinality(show_trgm(a.word)) > 0 AND v.word % a.word
            LIMIT ${maxSimilar})
        ) v WHERE NOT starts_with(v.word, a.word)
        UNION ALL SELECT v.id, v.word, c.n FROM (
          SELECT v.id, v.word FROM directory_vocabulary v WHERE ${beginsWith(sql, sql`v.word`, sql`a.word`)}
          ORDER BY v.word USING ~<~ LIMIT ${maxWords}
        ) v JOIN (
          SELECT word, sum(n)::int AS n FROM directory_word_counts c
          WHERE ${beginsWith(sql, sql`c.word`, sql`a.word`)} GROUP BY word
        ) c ON c.word = v.word
      ) v
    ) v`

/** Those of the words (id, word, n) that the vocabulary has, each with the number of its listings. */
export const vocabularyOf = (sql: Sql, words: ReadonlyArray<string>) =>
  sql`SELECT v.id, v.word, coalesce(${countOfWord(sql, sql`v.word`)}, 0) AS n FROM directory_vocabulary v
    WHERE v.word = ANY(ARRAY(SELECT unnest(directory_words(${words.join(" ")}))))`

/** Those of the words that are a word of a city or a state, in whatever form a state is written. */
export const placeWordsOf = (sql: Sql, words: ReadonlyArray<string>) =>
  sql`SELECT word FROM unnest(${words}::text[]) AS word WHERE EXISTS (
      SELECT FROM directory_places p WHERE p.folded LIKE '%' || word || '%' AND word = ANY(string_to_array(p.folded, ' '))
    ) OR EXISTS (SELECT FROM directory_states s WHERE word = ANY(directory_words(directory_state_forms(s.state))))`
