import MiniSearch from "minisearch"
import type { ServedCatalog, ServedItem } from "./catalog.ts"

/** Case and accents are ignored: `jalapeno` finds `Jalapeño`. */
const normalize = (term: string) => term.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()

/** Stop words: they would match half a menu. */
const stopWords = new Set(["a", "an", "and", "for", "in", "of", "on", "or", "the", "to", "with", "without"])

const processTerm = (term: string) => {
  const word = normalize(term)
  return word === "" || stopWords.has(word) ? null : word
}

/** Edit distance: 1 from four letters on, 2 from eight on; shorter words would match other words. */
const typos = (term: string) => term.length >= 8 ? 2 : term.length >= 4 ? 1 : false

export interface Hit {
  readonly item: ServedItem
  readonly matched: number
}

/** Items with any of the words; those with more words first, then name before category before description. */
export const makeSearch = (
  catalog: ServedCatalog
): (query: string, keep: (item: ServedItem) => boolean, limit: number) => ReadonlyArray<Hit> => {
  let index: MiniSearch<ServedItem> | undefined
  // Built at the first search: a large catalog must not delay /healthz.
  const build = () => {
    const next = new MiniSearch<ServedItem>({
      fields: ["name", "categoryName", "description"],
      processTerm,
      searchOptions: {
        boost: { name: 3, categoryName: 2 },
        prefix: (term) => term.length >= 3,
        fuzzy: typos,
        weights: { prefix: 0.6, fuzzy: 0.4 }
      }
    })
    next.addAll([...catalog.items.values()])
    return next
  }
  return (query, keep, limit) => {
    index ??= build()
    return index.search(query)
      .map(({ id, queryTerms, score }) => ({ id: String(id), matched: new Set(queryTerms).size, score }))
      .toSorted((a, b) => b.matched - a.matched || b.score - a.score)
      .flatMap(({ id, matched }) => {
        const item = catalog.items.get(id)
        return item === undefined || !keep(item) ? [] : [{ item, matched }]
      })
      .slice(0, limit)
  }
}
