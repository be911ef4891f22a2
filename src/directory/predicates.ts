import { type Circle } from "./DirectoryQuery.ts"
import { type Location } from "./location.ts"
import { type Spelling } from "./spelling.ts"

/** The words of a search (docs/decisions/search-rule.md). */
export interface WordsPredicate {
  readonly _tag: "words"
  /** The rarest first, at most `maxSpellings`. */
  readonly spellings: readonly [Spelling, ...ReadonlyArray<Spelling>]
  /** The words of the search that only order the results, at most `maxStopWords`, each with its number of listings. */
  readonly stopWords: ReadonlyArray<{ readonly id: number; readonly n: number }>
  /** How many of the words an entry must have: each of them, or as many as the best entry has, and at least so many. */
  readonly least: "all" | 1 | 2
  /** As an access path: entries with one of so many of the rarest words are read. */
  readonly rarest: number
  /** As an access path: only postings of entries that satisfy this too, which are read through its index. */
  readonly among: Predicate | undefined
}

/** One condition of a search. Each can be the access path too: its index finds the rows that satisfy it. */
export type Predicate =
  /** Places and whole states. The ids stay a PostgreSQL array literal, `{1,2}`: there may be thousands. */
  | {
    readonly _tag: "places"
    readonly ids: string
    readonly states: ReadonlyArray<string>
    /** Entries with this zip code, too. */
    readonly zip: string | undefined
  }
  /** The places of a city; with a location, only those that match it too. */
  | { readonly _tag: "city"; readonly city: string; readonly location: Location | undefined }
  /** `ranks`: the nearest come first. */
  | { readonly _tag: "circle"; readonly circle: Circle; readonly ranks: boolean }
  | WordsPredicate
  /** The whole name by trigrams, when a word of the search has no spelling in the vocabulary. */
  | { readonly _tag: "likeness"; readonly search: string }
  /** A category, a template type or industry; an entry must have all of these labels. */
  | { readonly _tag: "labels"; readonly ids: ReadonlyArray<number> }
  | { readonly _tag: "tier"; readonly tier: number }
