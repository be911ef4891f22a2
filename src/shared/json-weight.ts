import { Predicate } from "effect"

/** How large a JSON value is in memory, whatever its text is: `{}` is two letters. */
export interface JsonWeight {
  /** Objects, arrays and what is in them. */
  readonly nodes: number
  /** How many objects and arrays the innermost value lies in. */
  readonly depth: number
}

const childrenOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : Predicate.isRecord(value) ? Object.values(value) : []

/** Without recursion: a value of others may nest deeper than the stack. */
export const jsonWeight = (value: unknown): JsonWeight => {
  let nodes = 0
  let depth = -1
  let level: ReadonlyArray<unknown> = [value]
  while (level.length > 0) {
    nodes += level.length
    depth++
    const next: Array<unknown> = []
    for (const one of level) for (const child of childrenOf(one)) next.push(child)
    level = next
  }
  return { nodes, depth }
}
