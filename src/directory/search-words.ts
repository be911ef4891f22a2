import { Array as Arr, Effect } from "effect"
import { choose } from "./access-path.ts"
import { type DirectoryRepo, type FoundRow, type PageOptions } from "./DirectoryRepo.ts"
import { sameKindAs } from "./kinds.ts"
import { type Predicate, type WordsPredicate } from "./predicates.ts"
import { spellingOf, wholeWords } from "./spelling.ts"
import { contentOf, genericWords, withoutNearMe } from "./stop-words.ts"
import { costOf, isCheaperFromPostings, maxSpellings, maxStopWords } from "./words-sql.ts"

/** One page of the rows that match, and how many match in all. */
export interface SearchResult {
  readonly rows: ReadonlyArray<FoundRow>
  readonly total: number
}

/** The same, and how many of the words of a search the listings have. */
interface FoundEntries extends SearchResult {
  readonly hits: number
}

/** The words of the search that tell what is looked for. */
const contentWords = Effect.fnUntraced(function*(repo: DirectoryRepo, asked: ReadonlyArray<string>) {
  const isDecided = asked.every((word) => !genericWords.has(word))
  const places = isDecided ? [] : yield* repo.placeWordsOf(asked)
  return contentOf(asked, (word) => places.some((place) => place.word === word))
})

/**
 * The words of the search that a listing has, with their spellings; stop words only where there is nothing else. When no
 * listing has one, the whole name by trigrams.
 */
export const wordsPredicate = Effect.fnUntraced(function*(repo: DirectoryRepo, text: string) {
  const search = withoutNearMe(text)
  const candidates = yield* repo.candidates(search)
  const asked = candidates.map(({ asked }) => asked)
  const words = yield* contentWords(repo, asked)
  const content = candidates.filter(({ asked }) => words.includes(asked))
  const others = words.flatMap(sameKindAs)
  const vocabulary = others.length === 0 ? [] : yield* repo.vocabularyOf(others)
  const whole = wholeWords(search, asked)
  const spellings = content
    .map((candidate) => {
      const kind = sameKindAs(candidate.asked)
      return spellingOf(candidate, whole.has(candidate.asked), vocabulary.filter(({ word }) => kind.includes(word)))
    })
    .filter(({ n }) => n > 0)
    .sort((a, b) => a.n - b.n || (a.asked < b.asked ? -1 : 1))
    .slice(0, maxSpellings)
  const stops = candidates.filter((candidate) => !content.includes(candidate))
    .flatMap(({ asked, counts, ids, words }) => {
      const i = words.indexOf(asked)
      return i < 0 ? [] : [{ id: ids[i]!, n: counts[i]! }]
    })
  return Arr.isNonEmptyReadonlyArray(spellings)
    ? {
      _tag: "words",
      spellings,
      stopWords: stops.slice(0, maxStopWords),
      least: "all",
      rarest: 1,
      among: undefined
    } satisfies Predicate
    : { _tag: "likeness", search } satisfies Predicate
})

/**
 * The ways to look for words through their own index, the cheapest first: a listing has all of them, or lacks some of the
 * rarest, or has two of them, or one.
 */
const attemptsFor = (words: WordsPredicate, isAlone: boolean): ReadonlyArray<WordsPredicate> => {
  const count = words.spellings.length
  if (count === 1) return [words]
  const partly = Arr.range(2, count).map((rarest) => ({ ...words, least: 2 as const, rarest }))
  const dearer = partly.filter((attempt) => !isCheaperFromPostings(attempt))
  const complete = { ...words, rarest: count }
  return [
    // Without other filters the postings of all words answer at once.
    ...(isAlone && isCheaperFromPostings(words) ? [] : [words]),
    ...dearer,
    { ...complete, least: 2 },
    { ...complete, least: 1 }
  ]
}

/** Whether no other listing can have more of the words than those found. */
const isBest = ({ hits, total }: FoundEntries, { least, rarest, spellings: { length } }: WordsPredicate) =>
  total > 0 && (least === "all" || hits > length - rarest)

/** Stop words are not looked for when that costs more than to read so many postings. */
const maxPostings = 30_000

/** For one word without other filters. */
const searchWord = Effect.fnUntraced(function*(repo: DirectoryRepo, words: WordsPredicate, page: PageOptions) {
  const word = costOf(words) > maxPostings ? { ...words, stopWords: [] } : words
  if (word.stopWords.length > 0 || page.after !== undefined) return yield* repo.indexScan(word, [word], page)
  const inName = yield* repo.postingsScan(word, true, page.count)
  return inName.rows.length === page.count ? inName : yield* repo.postingsScan(word, false, page.count)
})

/** Without another access path: for all of the words, and when no listing has all, for as many as there are. */
const searchByWords = Effect.fnUntraced(
  function*(repo: DirectoryRepo, words: WordsPredicate, others: ReadonlyArray<Predicate>, page: PageOptions) {
    let found: FoundEntries = { rows: [], total: 0, hits: 0 }
    for (const attempt of attemptsFor(words, others.length === 0)) {
      found = yield* repo.indexScan(attempt, [attempt, ...others], page)
      if (isBest(found, attempt)) return found
    }
    return found
  }
)

/**
 * The listings that have the most of the words, of those that satisfy the other predicates; `accessPaths`: those of the
 * other predicates whose index may be read.
 */
export const searchWords = Effect.fnUntraced(
  function*(
    repo: DirectoryRepo,
    words: WordsPredicate,
    accessPaths: ReadonlyArray<Predicate>,
    others: ReadonlyArray<Predicate>,
    page: PageOptions
  ) {
    if (others.length === 0 && words.spellings.length === 1) return yield* searchWord(repo, words, page)
    if (accessPaths.length === 0) return yield* searchByWords(repo, words, others, page)
    const some = { ...words, least: 1 as const }
    let by = yield* choose(repo, [words, ...accessPaths])
    if (by === words) {
      const found = yield* repo.indexScan(words, [words, ...others], page)
      if (found.total > 0 || words.spellings.length === 1) return found
      by = yield* choose(repo, [some, ...accessPaths])
    }
    return yield* repo.indexScan(by._tag === "words" ? { ...by, least: 1 } : by, [some, ...others], page)
  }
)
