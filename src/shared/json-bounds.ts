/** How much a JSON text may hold (RFC 8259 §9 lets a parser set limits). */
export interface JsonBounds {
  /** Objects and arrays around the innermost value. */
  readonly levels: number
  /** Objects, arrays and what is in them. */
  readonly values: number
  /** Fields of one object, as often as they are written. */
  readonly fields: number
}

export type Excess = keyof JsonBounds

/** Whoever decodes, shows or formats a value is recursive: others must not control the depth of the stack. */
export const mostLevels = 100

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Counts what a JSON text holds by its bytes, before anything is built of them: `{}` is two bytes, and costs its reader
 * thousands of times as much. Text that is no JSON is left to its parser, unless it passes a limit: where the count is
 * wrong, a parser has stopped before.
 */
export class JsonScan {
  readonly #bounds: JsonBounds
  /** Of each open object its fields so far, and -1 of an array. */
  readonly #fields: Int32Array
  #open = 0
  #values = 1
  #isString = false
  #isEscaped = false
  /** Nothing stands behind the bracket yet. */
  #isEmpty = false

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
    this.#fields = new Int32Array(bounds.levels + 1)
  }

  /** The next bytes of the text. Returns the limit that they pass. */
  push(bytes: Uint8Array, from = 0, to = bytes.length): Excess | undefined {
    const { fields: mostFields, levels, values: mostValues } = this.#bounds
    const fields = this.#fields
    let [open, values, isString, isEscaped, isEmpty] = [
      this.#open,
      this.#values,
      this.#isString,
      this.#isEscaped,
      this.#isEmpty
    ]
    for (let at = from; at < to; at++) {
      let byte = bytes[at]!
      if (isString) {
        while (!isEscaped && byte >= 0x20 && byte !== quote && byte !== backslash && ++at < to) byte = bytes[at]!
        if (at === to) break
        // RFC 8259 §7: a string has no control characters, so that a parser reads no further.
        if (byte < 0x20) isString = isEscaped = false
        else if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isString = false
        continue
      }
      if (byte <= 0x20) continue
      if (byte === closeBrace || byte === closeBracket) {
        if (open > 0) open--
        isEmpty = false
        continue
      }
      if (isEmpty || byte === comma) {
        isEmpty = false
        if (++values > mostValues) return "values"
        if (open > 0 && fields[open]! >= 0 && ++fields[open]! > mostFields) return "fields"
      }
      if (byte === quote) isString = true
      else if (byte === openBrace || byte === openBracket) {
        if (++open > levels) return "levels"
        fields[open] = byte === openBrace ? 0 : -1
        isEmpty = true
      }
    }
    this.#open = open
    this.#values = values
    this.#isString = isString
    this.#isEscaped = isEscaped
    this.#isEmpty = isEmpty
    return undefined
  }

  /** Another text begins. */
  restart() {
    this.#open = 0
    this.#values = 1
    this.#isString = this.#isEscaped = this.#isEmpty = false
  }
}

/** The first limit that a whole text passes. */
export const excessOf = (bytes: Uint8Array, bounds: JsonBounds) => new JsonScan(bounds).push(bytes)
