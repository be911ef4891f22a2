/** How a word of a name matches a word of the search: 0 equal, 1 begins with it, 2 one typo, 3 two typos. */
export type Fit = 0 | 1 | 2 | 3

export const minLengthForOneTypo = 4
export const minLengthForTwoTypos = 8

/**
 * Typos between two words: letters added, left out, changed, or swapped with the next (optimal string alignment). Infinity
 * when there are more than `most`: only what is near the diagonal is computed, so that a search whose words
 * resemble very many others stays cheap.
 */
export const typos = (a: string, b: string, most = Infinity): number => {
  const from = [...a]
  const to = [...b]
  if (Math.abs(from.length - to.length) > most) return Infinity
  let beforeLast: Array<number> = []
  let last = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const first = Math.max(1, i - most)
    const end = Math.min(to.length, i + most)
    const row = new Array<number>(to.length + 1).fill(Infinity)
    if (i <= most) row[0] = i
    let least = row[0]!
    for (let j = first; j <= end; j++) {
      const changed = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
        ? beforeLast[j - 2]! + 1
        : Infinity
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, changed, swapped)
      least = Math.min(least, row[j]!)
    }
    if (least > most) return Infinity
    beforeLast = last
    last = row
  }
  const count = last[to.length]!
  return count > most ? Infinity : count
}

const size = (word: string) => [...word].length

/** How a word of the vocabulary matches; undefined when it does not. */
export const fitOf = (asked: string, word: string): Fit | undefined => {
  if (asked === word) return 0
  const [length, other] = [size(asked), size(word)]
  if (word.startsWith(asked)) return 1
  if (length < minLengthForOneTypo || Math.abs(length - other) > 2) return undefined
  const count = typos(asked, word, 2)
  if (count <= 1) return 2
  return count === 2 && Math.min(length, other) >= minLengthForTwoTypos ? 3 : undefined
}

/** A word of the vocabulary that stands for a word of the search. */
export interface FittingWord {
  readonly id: number
  /** 0: the word itself, 1: begins with it, 2: with typos. */
  readonly level: 0 | 1 | 2
}

/** The spellings of a word of the search. */
export interface Spelling {
  readonly asked: string
  readonly words: ReadonlyArray<FittingWord>
  /** The sum of the listings of each word: one that has two of them counts twice. */
  readonly n: number
  /** The number of listings that have one of the words, where it is known without looking. */
  readonly total: number | undefined
}

/** A word of the search with the words of the vocabulary that may be a spelling of it. */
export interface Candidates {
  readonly asked: string
  readonly ids: ReadonlyArray<number>
  readonly words: ReadonlyArray<string>
  /** The number of listings of each word. */
  readonly counts: ReadonlyArray<number>
  /** The number of listings with a word that begins so; undefined where it is not counted. */
  readonly total: number | null
}

export const maxWords = 5_000

const isShort = (word: string) => /^[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}]{1,2}$/u.test(word)

const isLast = (word: string, search: string) => {
  const text = search.normalize("NFKD").replace(/[\p{M}'\u2019.]/gu, "").toLowerCase().replace(/[^\p{L}\p{N}]+$/u, "")
  return text.endsWith(word) && !/[\p{L}\p{N}]$/u.test(text.slice(0, -word.length))
}

/**
 * The words of a search that stand for themselves alone: of one or two letters, before its last. Only the last may still be
 * unfinished; the "s" of "S&T Bank" is no beginning of "Santander". Where the last is not recognised: none.
 */
export const wholeWords = (search: string, asked: ReadonlyArray<string>): ReadonlySet<string> => {
  const last = asked.filter((word) => isLast(word, search))
  return new Set(last.length === 0 ? [] : asked.filter((word) => isShort(word) && !last.includes(word)))
}

/** A word of the vocabulary for the same kind of business. */
export interface KindWord {
  readonly id: number
  readonly word: string
  readonly n: number
}

/**
 * The best spellings, at most 5,000: by fit, then by number of listings. `isWhole`: the word itself alone. A word for the
 * same kind counts as a beginning.
 */
export const spellingOf = (
  { asked, counts, ids, total, words }: Candidates,
  isWhole = false,
  sameKind: ReadonlyArray<KindWord> = []
): Spelling => {
  const own = words.flatMap((word, i) => {
    const n = counts[i] ?? 0
    const fit = n > 0 && (!isWhole || word === asked) ? fitOf(asked, word) : undefined
    return fit === undefined || fit > 1 && sameKind.some((other) => other.word === word)
      ? []
      : [{ id: ids[i] ?? 0, word, fit, n }]
  })
  const others = sameKind.filter(({ word }) => own.every((other) => other.word !== word))
  const fitting = [...own, ...others.map((other) => ({ ...other, fit: 1 as const }))]
    .sort((a, b) => a.fit - b.fit || b.n - a.n || (a.word < b.word ? -1 : 1))
  const best = fitting.slice(0, maxWords)
  const n = best.reduce((sum, { n }) => sum + n, 0)
  return {
    asked,
    words: best.map(({ fit, id }) => ({ id, level: fit === 3 ? 2 : fit })),
    n,
    total: best.length === 1 ? n : best.length < fitting.length || others.length > 0 ? undefined : total ?? undefined
  }
}
