/** A value of an expression: a variable's name, and whether a list of values may stand there. */
interface Variable {
  readonly name: string
  readonly isExploded: boolean
}

/** What an operator writes before the first value and between values (RFC 6570, Appendix A). */
interface Operator {
  readonly first: string
  readonly separator: string
  /** Values have their names before them. */
  readonly isNamed: boolean
  /** No value has this letter; undefined: each may. */
  readonly never: string | undefined
}

interface Expression extends Operator {
  readonly variables: ReadonlyArray<Variable>
}

/** Text, as clients may spell it, or an expression. */
type Part = ReadonlyArray<string> | Expression

export interface UriTemplate {
  readonly parts: ReadonlyArray<Part>
  /** How many variables it has. */
  readonly variables: number
}

/** Whoever matches pays for each variable and each letter; a longer template is nobody's. */
export const longestTemplate = 500
const mostVariables = 10
/** Letters of a URI, and those times the variables, which a template of many takes for a shorter URI. */
const longestMatched = 1_000
const mostWork = 5_000

const plain = { isNamed: false, never: "/" }
const named = { isNamed: true, never: "&" }
const operators: Readonly<Record<string, Operator>> = {
  "": { ...plain, first: "", separator: "," },
  "+": { ...plain, first: "", separator: ",", never: undefined },
  "#": { ...plain, first: "#", separator: ",", never: undefined },
  ".": { ...plain, first: ".", separator: "." },
  "/": { ...plain, first: "/", separator: "/" },
  ";": { ...named, first: ";", separator: ";", never: ";" },
  "?": { ...named, first: "?", separator: "&" },
  "&": { ...named, first: "&", separator: "&" }
}

/** RFC 6570 §2.3, and the hyphen, which servers of the official SDK take. */
const variable = /^([\w.%-]+)(?::[1-9]\d{0,3}|(\*))?$/

const expressionOf = (body: string): Expression | undefined => {
  const [, sign = "", list = ""] = /^([+#./;?&]?)(.*)$/s.exec(body) ?? []
  const variables = list.split(",").map((spec): Variable | undefined => {
    const [, name, star] = variable.exec(spec) ?? []
    return name === undefined ? undefined : { name, isExploded: star !== undefined }
  }).filter((one) => one !== undefined)
  return variables.length === list.split(",").length ? { ...operators[sign]!, variables } : undefined
}

/** As it stands, which servers compare, and as RFC 6570 §3.1 expands it. */
const spellings = (text: string) => [
  ...new Set([text, text.toWellFormed().replace(/[^\u0021-\u007e]+/g, encodeURIComponent)])
]

/** A URI template (RFC 6570); undefined when the text is none, or takes too long to match. */
export const uriTemplate = (text: string): UriTemplate | undefined => {
  if (text.length > longestTemplate) return undefined
  const parts: Array<Part> = []
  let variables = 0
  for (const [at, piece] of text.split(/\{([^{}]*)\}/).entries()) {
    if (at % 2 === 0) {
      if (/[{}]/.test(piece)) return undefined
      if (piece !== "") parts.push(spellings(piece))
      continue
    }
    const expression = expressionOf(piece)
    variables += expression?.variables.length ?? 0
    if (expression === undefined || variables > mostVariables) return undefined
    parts.push(expression)
  }
  return { parts, variables }
}

/** For each place of a URI, whether what was matched so far can end there; undefined: nowhere. */
type Places = Uint8Array | undefined

const either = (a: Places, b: Places): Places => {
  if (a === undefined || b === undefined || a === b) return a ?? b
  const to = a.slice()
  for (let at = 0; at < b.length; at++) if (b[at] === 1) to[at] = 1
  return to
}

/** Of each beginning of a text how many letters it ends with that it begins with, too (Knuth, Morris, Pratt). */
const borders = (text: string): ReadonlyArray<number> => {
  const found = [0]
  for (let at = 1, same = 0; at < text.length; at++) {
    while (same > 0 && text[at] !== text[same]) same = found[same - 1]!
    if (text[at] === text[same]) same++
    found.push(same)
  }
  return found
}

const afterText = (uri: string, from: Places, text: string): Places => {
  if (from === undefined || text === "" || !uri.includes(text)) return text === "" ? from : undefined
  const found = borders(text)
  let to: Places
  for (let at = 0, same = 0; at < uri.length; at++) {
    while (same > 0 && uri[at] !== text[same]) same = found[same - 1]!
    if (uri[at] === text[same]) same++
    if (same === text.length && from[at + 1 - same] === 1) (to ??= new Uint8Array(uri.length + 1))[at + 1] = 1
  }
  return to
}

const afterValue = (uri: string, from: Places, never: string | undefined): Places => {
  const to = from?.slice()
  for (let at = to?.indexOf(1) ?? -1; at !== -1; at = to?.indexOf(1, at) ?? -1) {
    const end = never === undefined ? -1 : uri.indexOf(never, at)
    const next = end === -1 ? uri.length + 1 : end + 1
    to?.fill(1, at, next)
    at = next
  }
  return to
}

const afterExpression = (uri: string, from: Places, expression: Expression): Places => {
  const { first, isNamed, never, separator, variables } = expression
  let begun: Places
  for (const { isExploded, name } of variables) {
    // A variable may be undefined, and then nothing is written (RFC 6570 §3.2.1).
    const start = either(afterText(uri, from, first), afterText(uri, begun, separator))
    // An exploded one writes a list, with the separator between, or the names of an object's fields.
    if (isExploded) begun = either(begun, afterValue(uri, start, undefined))
    else if (isNamed) {
      const called = afterText(uri, start, name)
      begun = either(begun, either(called, afterValue(uri, afterText(uri, called, "="), never)))
    } else begun = either(begun, afterValue(uri, start, never))
  }
  return either(begun, from)
}

/**
 * Whether the template can expand to the URI. As lenient as the official SDK, which lets a value have any letter but a
 * slash. Its own `match` makes an expression of backtracking, which a few variables in a row bring to a standstill; this
 * takes a step for each letter and part.
 */
export const matchesTemplate = ({ parts, variables }: UriTemplate, uri: string): boolean => {
  if (uri.length > longestMatched || uri.length * variables > mostWork || !uri.isWellFormed()) return false
  const [start] = parts
  if (Array.isArray(start) && !start.some((text: string) => uri.startsWith(text))) return false
  let places: Places = new Uint8Array(uri.length + 1).fill(1, 0, 1)
  for (const part of parts) {
    const before: Places = places
    places = "first" in part
      ? afterExpression(uri, before, part)
      : part.map((text) => afterText(uri, before, text)).reduce(either)
  }
  return places?.[uri.length] === 1
}
