import { type AST, ParseError, parseTOML } from "toml-eslint-parser"

/** A line and a column, both from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface Document {
  readonly value: unknown
  /** Where a value stands, by its dotted path; that of the nearest table around what is not there. */
  readonly positionOf: (path: string) => Position
}

export interface SyntaxProblem extends Position {
  readonly message: string
}

type Tree = Map<string, unknown>

const start = ({ loc }: AST.TOMLNode): Position => ({ line: loc.start.line, column: loc.start.column + 1 })
const pathOf = (keys: ReadonlyArray<number | string>) => keys.join(".")

/** Own properties alone: a key such as `__proto__` is one like any other. */
const plain = (value: unknown): unknown =>
  value instanceof Map
    ? Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]))
    : Array.isArray(value)
    ? value.map(plain)
    : value

/** Reads TOML 1.0 with the place of each value; `message` of a problem is a sentence without its place. */
export const readToml = (text: string): Document | SyntaxProblem => {
  let program: AST.TOMLProgram
  try {
    program = parseTOML(text, { tomlVersion: "1.0" })
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return { line: error.lineNumber, column: error.column + 1, message: error.message }
  }
  const places = new Map<string, Position>()

  const childOf = (tree: Tree, key: number | string): Tree => {
    const name = String(key)
    const found = tree.get(name)
    if (found instanceof Map) return found as Tree
    const made: Tree = new Map()
    tree.set(name, made)
    return made
  }

  const read = (node: AST.TOMLContentNode, path: ReadonlyArray<number | string>): unknown => {
    switch (node.type) {
      case "TOMLValue":
        return node.value
      case "TOMLArray":
        return node.elements.map((element, index) => {
          const inner = [...path, index]
          places.set(pathOf(inner), start(element))
          return read(element, inner)
        })
      case "TOMLInlineTable": {
        const tree: Tree = new Map()
        for (const pair of node.body) set(tree, pair, path)
        return tree
      }
    }
  }

  const set = (tree: Tree, { key, value }: AST.TOMLKeyValue, above: ReadonlyArray<number | string>) => {
    const names = key.keys.map((part) => part.type === "TOMLBare" ? part.name : part.value)
    const path = [...above, ...names]
    for (let depth = above.length + 1; depth <= path.length; depth++) {
      places.set(pathOf(path.slice(0, depth)), start(key))
    }
    const holder = names.slice(0, -1).reduce(childOf, tree)
    holder.set(names.at(-1) ?? "", read(value, path))
  }

  const root: Tree = new Map()
  for (const node of program.body[0].body) {
    if (node.type === "TOMLKeyValue") {
      set(root, node, [])
      continue
    }
    // A table of an array is known by its index, and so has a place in no schema of ours: an unknown field.
    const tree = node.resolvedKey.reduce<Tree>(childOf, root)
    for (let depth = 1; depth <= node.resolvedKey.length; depth++) {
      const path = pathOf(node.resolvedKey.slice(0, depth))
      if (!places.has(path)) places.set(path, start(node))
    }
    for (const pair of node.body) set(tree, pair, node.resolvedKey)
  }

  const positionOf = (path: string): Position => {
    const parts = path.split(".")
    for (let length = parts.length; length > 0; length--) {
      const place = places.get(pathOf(parts.slice(0, length)))
      if (place !== undefined) return place
    }
    return { line: 1, column: 1 }
  }
  return { value: plain(root), positionOf }
}
