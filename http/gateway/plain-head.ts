import { headOf, type ResponseHead } from "./headers.ts"

/** A longer head is left to undici, which knows the limit. */
export const longestPlain = 8 * 1024

/** The head of an answer that every parser reads in the same way. */
export interface PlainHead {
  readonly status: number
  readonly reason: string
  readonly head: ResponseHead
  /** Bytes of the body; undefined: it is chunked. */
  readonly length: number | undefined
  /** How many seconds the machine keeps its connection, if it says so; 0: it does not. */
  readonly keptSeconds: number | undefined
}

const statusLine = /^HTTP\/1\.1 ([2-5]\d\d) ([\x20-\x7e]*)$/
/** RFC 9110 §5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/
/** A control character, or an end of line that is half of one. */
const doubtful = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/

/** Whether what has come can't be the beginning of a plain head, whatever follows. */
export const isDoubtful = (text: string) =>
  text.length > longestPlain || doubtful.test(text.endsWith("\r") ? text.slice(0, -1) : text) ||
  !(text.length < 9 ? "HTTP/1.1 ".startsWith(text) : text.startsWith("HTTP/1.1 "))

const trimmed = (value: string) => value.replace(/^[\t ]+|[\t ]+$/g, "")

/** Names and values; undefined: a line is none of a field (RFC 9112 §5), such as the folded rest of one. */
const fieldsIn = (lines: ReadonlyArray<string>) => {
  const fields: Array<string> = []
  for (const line of lines) {
    const end = line.indexOf(":")
    const name = line.slice(0, end)
    if (end < 1 || !token.test(name)) return undefined
    fields.push(name, trimmed(line.slice(end + 1)))
  }
  return fields
}

/** The values of a field. */
const valuesOf = (fields: ReadonlyArray<string>, name: string) =>
  fields.filter((_, i) => i % 2 === 1 && fields[i - 1]!.length === name.length && fields[i - 1]!.toLowerCase() === name)

/**
 * Undefined where there is the least doubt: a body without a length, two lengths, other codings, a change of protocol.
 * What a 204 or 304 says of a body is said of none (RFC 9112 §6.3).
 */
const framingOf = (fields: ReadonlyArray<string>, hasBody: boolean): Pick<PlainHead, "length"> | undefined => {
  const [lengths, codings] = [valuesOf(fields, "content-length"), valuesOf(fields, "transfer-encoding")]
  const isBodyless = !hasBody && codings.length === 0 && lengths.length <= 1
  if (isBodyless && valuesOf(fields, "upgrade").length === 0) return { length: 0 }
  if (!hasBody || lengths.length + codings.length !== 1 || valuesOf(fields, "upgrade").length > 0) return undefined
  const [length = ""] = lengths
  if (codings.length === 1) return codings[0]!.toLowerCase() === "chunked" ? { length: undefined } : undefined
  return /^\d{1,15}$/.test(length) ? { length: Number(length) } : undefined
}

const keepingOf = (fields: ReadonlyArray<string>): Pick<PlainHead, "keptSeconds"> | undefined => {
  const [connections, hints] = [valuesOf(fields, "connection"), valuesOf(fields, "keep-alive")]
  const connection = (connections[0] ?? "keep-alive").toLowerCase()
  if (connections.length > 1 || hints.length > 1) return undefined
  if (connection === "close") return { keptSeconds: 0 }
  const hint = /timeout=(\d{1,9})/.exec(hints[0] ?? "")?.[1]
  return connection === "keep-alive" ? { keptSeconds: hint === undefined ? undefined : Number(hint) } : undefined
}

/**
 * Reads the head of an answer to a POST, up to its empty line. Undefined: it is not of the plain form, and is for a whole
 * parser to judge.
 */
export const readPlainHead = (text: string): PlainHead | undefined => {
  const [first = "", ...lines] = text.split("\r\n")
  const [, status, reason] = statusLine.exec(first) ?? []
  if (isDoubtful(text) || status === undefined || reason === undefined) return undefined
  const fields = fieldsIn(lines)
  if (fields === undefined) return undefined
  const [framing, keeping] = [framingOf(fields, status !== "204" && status !== "304"), keepingOf(fields)]
  if (framing === undefined || keeping === undefined) return undefined
  return { status: Number(status), reason, head: headOf(fields), ...framing, ...keeping }
}
