/** Shorter values are words of everyday, such as `true` and `debug`. */
const shortest = 6
/** Of a longer value its beginning is masked too: it is nothing that is printed by chance. */
const beginning = 32
/** The longest first; a server's values can have more lines than it is worth looking for. */
const maxParts = 5_000
/** Values with the same beginning, each compared to its end. */
const maxAlike = 20

export interface Hidden {
  readonly name: string
  readonly value: string
}

/** Replaces what must not be read in texts that follow each other without a gap. */
export type Mask = (pieces: ReadonlyArray<string>) => ReadonlyArray<string>

/** Each line of a value, also as JSON writes it. */
const partsOf = ({ name, value }: Hidden): ReadonlyArray<Hidden> =>
  value.split(/[\r\n]+/).map((line) => line.trim()).flatMap((line) => {
    const quoted = JSON.stringify(line).slice(1, -1)
    return (quoted === line ? [line] : [line, quoted]).map((value) => ({ name, value }))
  })

const commonLength = (text: string, at: number, value: string) => {
  let length = 0
  while (length < value.length && text[at + length] === value[length]) length++
  return length
}

interface Span {
  readonly from: number
  to: number
  readonly name: string
}

/** Finds any of thousands of values in one pass: by what begins a value, and then by each length that there is. */
const finder = (hidden: ReadonlyArray<Hidden>) => {
  const parts = hidden.flatMap(partsOf).filter(({ value }) => value.length >= shortest)
    .sort((one, other) => other.value.length - one.value.length).slice(0, maxParts)
  const starts = new Set<string>()
  const byKey = new Map<string, Array<Hidden>>()
  const lengths = new Set<number>()
  for (const part of parts) {
    const key = part.value.slice(0, beginning)
    starts.add(key.slice(0, shortest))
    lengths.add(key.length)
    const alike = byKey.get(key)
    if (alike === undefined) byKey.set(key, [part])
    else if (alike.length < maxAlike) alike.push(part)
  }
  const longestFirst = [...lengths].sort((one, other) => other - one)

  const longestAt = (text: string, at: number) => {
    if (!starts.has(text.slice(at, at + shortest))) return undefined
    for (const length of longestFirst) {
      const alike = at + length <= text.length ? byKey.get(text.slice(at, at + length)) : undefined
      const [first, ...rest] = alike ?? []
      if (first === undefined) continue
      return rest.reduce((best, { name, value }) => {
        const found = commonLength(text, at, value)
        return found > best.length ? { name, length: found } : best
      }, { name: first.name, length: commonLength(text, at, first.value) })
    }
    return undefined
  }

  /** What is hidden in the text, joined where values overlap. */
  const find = (text: string): ReadonlyArray<Span> => {
    const spans: Array<Span> = []
    for (let at = 0; at + shortest <= text.length; at++) {
      const found = longestAt(text, at)
      if (found === undefined) continue
      const to = at + found.length
      const last = spans.at(-1)
      if (last === undefined || at >= last.to) spans.push({ from: at, to, name: found.name })
      else last.to = Math.max(last.to, to)
      // A value that begins in this one and goes on after it begins near its end.
      at = Math.max(at, to - beginning)
    }
    return spans
  }
  return parts.length === 0 ? undefined : find
}

/** Replaces values by `[NAME]`, also one that begins in a piece and ends in a later one. */
export const makeMask = (hidden: ReadonlyArray<Hidden>): Mask => {
  const find = finder(hidden)
  if (find === undefined) return (pieces) => pieces
  return (pieces) => {
    const spans = find(pieces.join(""))
    if (spans.length === 0) return pieces
    let from = 0
    return pieces.map((piece) => {
      const start = from
      const end = from += piece.length
      let [out, at] = ["", start]
      for (const span of spans) {
        if (span.to <= start || span.from >= end) continue
        out += piece.slice(at - start, Math.max(span.from, start) - start)
        // Where it begins; what follows it in later pieces goes without a word.
        if (span.from >= start) out += `[${span.name}]`
        at = Math.min(span.to, end)
      }
      return out + piece.slice(at - start)
    })
  }
}
