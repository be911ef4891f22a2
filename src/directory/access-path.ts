import { Array as Arr, Effect, Order } from "effect"
import { type DirectoryRepo } from "./DirectoryRepo.ts"
import { type Predicate, type WordsPredicate } from "./predicates.ts"
import { costOf, entryCost, postingsOf } from "./words-sql.ts"

/** The access path of the fewest rows, and how many. */
export const mostSelective = Effect.fnUntraced(
  function*(repo: DirectoryRepo, accessPaths: Arr.NonEmptyReadonlyArray<Predicate>) {
    const cardinalities = yield* Effect.forEach(
      accessPaths,
      (accessPath) => Effect.map(repo.cardinality(accessPath), (rows) => ({ accessPath, rows })),
      { concurrency: "unbounded" }
    )
    return Arr.min(cardinalities, Order.mapInput(Order.number, ({ rows }: { readonly rows: number }) => rows))
  }
)

/** What it costs to find an entry by its number, and to read its row from an index, relative to reading a posting. */
const findCost = 6
const rowCost = 1

/**
 * Words or another access path, or the postings of the words among the entries of the other access path. Where not all
 * words are required the words alone do not do: which listings have the most depends on the others.
 */
const chooseForWords = Effect.fnUntraced(
  function*(repo: DirectoryRepo, words: WordsPredicate, others: Arr.NonEmptyReadonlyArray<Predicate>) {
    const { accessPath: among, rows } = yield* mostSelective(repo, others)
    const alone = words.least === "all" ? costOf(words) + findCost * words.spellings[0].n : Infinity
    const costs = [
      { by: words, cost: alone },
      { by: { ...words, among }, cost: postingsOf(words) + rowCost * rows },
      { by: among, cost: entryCost * rows }
    ] as const
    return Arr.min(costs, Order.mapInput(Order.number, ({ cost }: { readonly cost: number }) => cost)).by
  }
)

/** The access path to take. Likeness can't filter the rows of another one; a city has few enough rows not to ask. */
export const choose = Effect.fnUntraced(
  function*(repo: DirectoryRepo, accessPaths: Arr.NonEmptyReadonlyArray<Predicate>) {
    const [first, second] = accessPaths
    const only = accessPaths.find(({ _tag }) => _tag === "likeness") ??
      accessPaths.find(({ _tag }) => _tag === "city") ?? (second === undefined ? first : undefined)
    if (only !== undefined) return only
    const words = accessPaths.find((accessPath) => accessPath._tag === "words")
    const others = accessPaths.filter((accessPath) => accessPath !== words)
    return words !== undefined && Arr.isNonEmptyReadonlyArray(others)
      ? yield* chooseForWords(repo, words, others)
      : (yield* mostSelective(repo, accessPaths)).accessPath
  }
)
