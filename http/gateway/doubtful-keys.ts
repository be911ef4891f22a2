type Role = "batch" | "message" | "params" | "other"

interface Container {
  readonly role: Role
  readonly isObject: boolean
  readonly seen: Set<string>
  key: string
  expectsKey: boolean
}

/** Keys that decide what a message does. */
const decisive: Readonly<Partial<Record<Role, ReadonlySet<string>>>> = {
  message: new Set(["jsonrpc", "id", "method", "params", "result", "error"]),
  params: new Set(["name"])
}

/** Parsers fail at different depths; meaningful messages are far less deep. */
const maxDepth = 500

/** Folds case as the most lenient parser does (Go's: also "ſ" to "s" and the Kelvin sign to "k"). */
const foldCase = (key: string) => key.toUpperCase().toLowerCase()

const roleIn = (parent: Container | undefined, isObject: boolean): Role => {
  if (parent === undefined) return isObject ? "message" : "batch"
  if (!isObject) return "other"
  if (parent.role === "batch") return "message"
  return parent.role === "message" && parent.key === "params" ? "params" : "other"
}

/** The position of the quote that closes the string opened at `start`. */
const closing = (text: string, start: number) => {
  let at = start + 1
  while (at < text.length && text[at] !== "\"") at += text[at] === "\\" ? 2 : 1
  return at
}

/**
 * Whether a valid JSON text could be a different JSON-RPC message to another parser: of two equal keys (RFC 8259 §4)
 * some use the first and some the last, and some ignore case.
 */
export const hasDoubtfulKeys = (text: string): boolean => {
  const open: Array<Container> = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    const top = open.at(-1)
    if (character === "{" || character === "[") {
      if (open.length === maxDepth) return true
      const isObject = character === "{"
      open.push({ role: roleIn(top, isObject), isObject, seen: new Set(), key: "", expectsKey: isObject })
    } else if (character === "}" || character === "]") open.pop()
    else if (character === "," && top !== undefined) top.expectsKey = top.isObject
    else if (character === "\"") {
      const end = closing(text, at)
      if (top?.expectsKey === true) {
        top.expectsKey = false
        const names = decisive[top.role]
        if (names !== undefined) {
          top.key = String(JSON.parse(text.slice(at, end + 1)))
          const key = foldCase(top.key)
          if (top.seen.has(key) || (names.has(key) && !names.has(top.key))) return true
          top.seen.add(key)
        }
      }
      at = end
    }
  }
  return false
}
