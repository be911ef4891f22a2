/** How a word of a name matches a word of the search: 0 equal, 1 begins with it, 2 one typo, 3 two typos. */
export type Fit = 0 | 1 | 2 | 3

const minLengthForOneTypo = 4
export const minLengthForTwoTypos = 8

/** Typos between two words: letters added, left out, changed, or swapped with the next (optimal string alignment). */
export const typos = (a: string, b: string) => {
  const from = [...a]
  const to = [...b]
  const table = Array.from(
    { length: from.length + 1 },
    (_, i) => Array.from({ length: to.length + 1 }, (_, j) => i === 0 ? j : j === 0 ? i : 0)
  )
  const at = (i: number, j: number) => table[i]![j]!
  for (let i = 1; i <= from.length; i++) {
    for (let j = 1; j <= to.length; j++) {
      const changed = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
        ? at(i - 2, j - 2) + 1
        : Infinity
      table[i]![j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped)
    }
  }
  return at(from.length, to.length)
}

const size = (word: string) => [...word].length

/** How a word of the vocabulary matches; undefined when it does not. */
export const fitOf = (asked: string, word: string): Fit | undefined => {
  if (asked === word) return 0
  const [length, other] = [size(asked), size(word)]
  if (word.startsWith(asked)) return 1
  if (Math.max(length, other) < minLengthForOneTypo || Math.abs(length - other) > 2) return undefined
  const count = typos(asked, word)
  if (count <= 1) return 2
  return count === 2 && Math.min(length, other) >= minLengthForTwoTypos ? 3 : undefined
}

/**
 * The spellings of a word of the search, by level: equal, prefix, typos; each level includes the better ones. `n`: the sum
 * of the listings of each spelling.
 */
export interface Spelling {
  readonly asked: string
  readonly n: number
  readonly levels: readonly [ReadonlyArray<string>, ReadonlyArray<string>, ReadonlyArray<string>]
}

const maxWords = 200

/** A word of the vocabulary, and the number of listings that have it. */
export interface Candidate {
  readonly word: string
  readonly n: number
}

/** The 200 best spellings: by fit, then by number of listings. */
export const spellingOf = (asked: string, candidates: ReadonlyArray<Candidate>): Spelling => {
  const fitting = candidates
    .flatMap(({ n, word }) => {
      const fit = n > 0 ? fitOf(asked, word) : undefined
      return fit === undefined ? [] : [{ word, fit, n }]
    })
    .sort((a, b) => a.fit - b.fit || b.n - a.n || (a.word < b.word ? -1 : 1))
    .slice(0, maxWords)
  const upTo = (most: Fit) => fitting.filter(({ fit }) => fit <= most).map(({ word }) => word)
  return { asked, n: fitting.reduce((sum, { n }) => sum + n, 0), levels: [upTo(0), upTo(1), upTo(3)] }
}
