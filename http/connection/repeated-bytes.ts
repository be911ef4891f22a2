import { type IncomingMessage } from "node:http"

/** Digits of a length that may be announced in place of another: bodies up to 64 KiB are read whole. */
const mostDigits = 5
/** Below what Node refuses (16 KiB), so that no other length makes a head that it would. */
const longestHead = 15 * 1024
const endOfLine = "\r\n"

const isLength = (name: string) => name.length === 14 && name.toLowerCase() === "content-length"

/**
 * A request's head as its client would have written it, had it written it as we do: one space after each colon, CRLF after
 * each line. `before` ends where the digits of its length begin.
 */
const written = ({ httpVersion, method, rawHeaders, url }: IncomingMessage) => {
  let text = `${method} ${url} HTTP/${httpVersion}${endOfLine}`
  let before: string | undefined
  let length = ""
  for (let i = 0; i < rawHeaders.length; i += 2) {
    text += `${rawHeaders[i]}: `
    const value = rawHeaders[i + 1]!
    if (isLength(rawHeaders[i]!)) [before, length, text] = [text, value, ""]
    text += isLength(rawHeaders[i]!) ? endOfLine : `${value}${endOfLine}`
  }
  return { before, length, after: `${text}${endOfLine}` }
}

/**
 * How many bytes a request is whose head Node has read, and that begins with these; undefined: that can't be said for certain.
 * They are equal to what Node understood, written out again, so that there is one way to read them (RFC 9112 §6.3).
 */
export const sizeOf = (req: IncomingMessage, first: Buffer): number | undefined => {
  if (req.headers["transfer-encoding"] !== undefined) return undefined
  const { after, before = "", length } = written(req)
  if (length !== "" && !/^(?:0|[1-9]\d{0,14})$/.test(length)) return undefined
  const head = `${before}${length}${after}`
  return first.toString("latin1", 0, head.length) === head ? head.length + Number(length) : undefined
}

/** A head with a length, as bytes: another request begins with it, but for the digits of the length. */
export class RepeatedBytes {
  readonly #before: Buffer
  readonly #after: Buffer

  private constructor(before: string, after: string) {
    this.#before = Buffer.from(before, "latin1")
    this.#after = Buffer.from(after, "latin1")
  }

  static of(req: IncomingMessage): RepeatedBytes | undefined {
    const { after, before } = written(req)
    if (before === undefined || before.length + after.length > longestHead) return undefined
    return new RepeatedBytes(before, after)
  }

  /** The body of a chunk that is one whole request with this head; undefined: it is not. */
  bodyIn(chunk: Buffer): Buffer | undefined {
    const [before, after] = [this.#before, this.#after]
    let at = before.length
    if (chunk.length <= at || before.compare(chunk, 0, at) !== 0) return undefined
    let length = 0
    for (const last = at + mostDigits; at < last; at++) {
      const digit = chunk[at]! - 48
      if (!(digit >= 0 && digit <= 9)) break
      length = length * 10 + digit
      // A zero is followed by no other digit, and announces no body.
      if (length === 0) return undefined
    }
    const end = at + after.length
    if (length === 0 || chunk.length !== end + length || after.compare(chunk, at, end) !== 0) return undefined
    return chunk.subarray(end)
  }
}
