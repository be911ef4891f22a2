/** Edit distance (Levenshtein), one row at a time. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The name closest to a mistyped one; undefined when none is close. */
export const nearest = (typed: string, names: ReadonlyArray<string>): string | undefined => {
  const query = typed.toLowerCase().slice(0, 100)
  const ranked = names.map((name) => ({ name, cost: distance(query, name.toLowerCase()) }))
    .toSorted((a, b) => a.cost - b.cost)
  const [best] = ranked
  const part = names.find((name) => query.length >= 3 && name.toLowerCase().includes(query))
  // A name with no letter in its place is another word.
  const isClose = best !== undefined && best.cost < query.length && best.cost <= Math.max(2, query.length / 3)
  return isClose ? best.name : part
}

export const didYouMean = (typed: string, names: ReadonlyArray<string>): string => {
  const name = nearest(typed, names)
  return name === undefined ? "" : ` Did you mean "${name}"?`
}
