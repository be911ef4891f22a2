import { mostLevels } from "#src/shared/json-bounds.ts"

/** Callbacks for the root object of a JSON text: the span of each field's value, and of each element of one list, or of the root where that is a list. */
export interface Visitor {
  /** A field begins. A returned message makes the text invalid. */
  readonly begin: (key: string) => string | undefined
  readonly member: (key: string, start: number, end: number) => void
  readonly element: (start: number, end: number) => void
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39
const isHex = (byte: number | undefined) =>
  isDigit(byte) || byte !== undefined && ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
const escapes = new Set([...Buffer.from("\"\\/bfnrt")])

/** The end of the string that begins at `start` (RFC 8259 §7); -1 when it is invalid. */
const stringEnd = (json: Buffer, start: number) => {
  let at = start + 1
  for (; at < json.length; at++) {
    const byte = json[at]!
    if (byte === quote) return at + 1
    if (byte < 0x20) return -1
    if (byte !== backslash) continue
    const escape = json[++at] ?? 0
    if (escape === 0x75) {
      if (![1, 2, 3, 4].every((digit) => isHex(json[at + digit]))) return -1
      at += 4
    } else if (!escapes.has(escape)) return -1
  }
  return -1
}

const digitsEnd = (json: Buffer, start: number) => {
  let at = start
  while (isDigit(json[at])) at++
  return at
}

/** RFC 8259 §6: no leading zeros, digits on both sides of a point. */
const numberEnd = (json: Buffer, start: number) => {
  let at = json[start] === 0x2d ? start + 1 : start
  if (!isDigit(json[at])) return -1
  at = json[at] === 0x30 ? at + 1 : digitsEnd(json, at)
  if (json[at] === 0x2e) {
    if (!isDigit(json[at + 1])) return -1
    at = digitsEnd(json, at + 1)
  }
  if (((json[at] ?? 0) | 0x20) === 0x65) {
    const sign = json[at + 1]
    const first = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1
    if (!isDigit(json[first])) return -1
    at = digitsEnd(json, first)
  }
  return at
}

const words = ["true", "false", "null"].map((word) => Buffer.from(word))
const wordEnd = (json: Buffer, start: number) => {
  const word = words.find((word) => json.subarray(start, start + word.length).equals(word))
  return word === undefined ? -1 : start + word.length
}

const scalarEnd = (json: Buffer, start: number) => {
  const byte = json[start]!
  if (byte === quote) return stringEnd(json, start)
  return byte === 0x2d || isDigit(byte) ? numberEnd(json, start) : wordEnd(json, start)
}

type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end" | "nothing"

/**
 * Scans a JSON text (RFC 8259) once without building its values: an untrusted file of megabytes may have any
 * nesting and any number of fields. Returns what is invalid, `undefined` when nothing is.
 */
export const walkJson = (json: Buffer, list: string, visit: Visitor): string | undefined => {
  const open: Array<number> = []
  let expected: Expected = "value"
  let key = ""
  let memberStart = 0
  let elementStart = 0
  const invalid = (at: number) => `is not valid JSON (at byte ${at})`

  /** Passes a completed value to the visitor. Returns what is expected next. */
  const ended = (end: number): Expected => {
    if (open[0] === openBrace && open.length === 1) visit.member(key, memberStart, end)
    else if (open[0] === openBrace && open[1] === openBracket && open.length === 2 && key === list) {
      visit.element(elementStart, end)
    } else if (open[0] === openBracket && open.length === 1) visit.element(memberStart, end)
    return open.length === 0 ? "nothing" : "comma or end"
  }

  for (let at = 0; at < json.length;) {
    const byte = json[at]!
    if (isSpace(byte)) {
      at++
      continue
    }
    const inside = open.at(-1)
    switch (expected) {
      case "value or end":
      case "value": {
        if (byte === closeBracket && expected === "value or end") {
          open.pop()
          expected = ended(++at)
          break
        }
        if (open.length === 1) memberStart = at
        else if (open.length === 2) elementStart = at
        if (byte === openBrace || byte === openBracket) {
          if (open.push(byte) > mostLevels) return `is nested more than ${mostLevels} levels deep`
          expected = byte === openBrace ? "key or end" : "value or end"
          at++
          break
        }
        const end = scalarEnd(json, at)
        if (end < 0) return invalid(at)
        at = end
        expected = ended(end)
        break
      }
      case "key or end":
      case "key": {
        if (byte === closeBrace && expected === "key or end") {
          open.pop()
          expected = ended(++at)
          break
        }
        const end = byte === quote ? stringEnd(json, at) : -1
        if (end < 0) return invalid(at)
        if (open.length === 1) {
          key = end - at > 1000 ? "…" : JSON.parse(json.toString("utf8", at, end)) as string
          const problem = visit.begin(key)
          if (problem !== undefined) return problem
        }
        at = end
        expected = "colon"
        break
      }
      case "colon":
        if (byte !== colon) return invalid(at)
        at++
        expected = "value"
        break
      case "comma or end":
        if (byte === comma) expected = inside === openBrace ? "key" : "value"
        else if (byte === (inside === openBrace ? closeBrace : closeBracket)) {
          open.pop()
          expected = ended(at + 1)
        } else return invalid(at)
        at++
        break
      case "nothing":
        return invalid(at)
    }
  }
  return expected === "nothing" ? undefined : invalid(json.length)
}
