import { type Piece } from "#src/uploads/receive.ts"
import { type Refusal, refused } from "#src/uploads/Refusal.ts"
import { Either } from "effect"
import { type IncomingMessage } from "node:http"

const invalid = (message: string) => Either.left(refused("BLOB_UPLOAD_INVALID", message))

/** The length that a request says; a decimal number is all that Node lets pass. */
const lengthOf = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

/** The part of a blob that a request brings: `Content-Range: 0-99`, as the specification writes it ("Pushing a blob in chunks"). */
export const pieceOf = (req: IncomingMessage): Either.Either<Piece, Refusal> => {
  const length = lengthOf(req)
  const sent = req.headers["content-range"]
  if (sent === undefined) return Either.right({ bytes: req, from: undefined, length })
  const [, first, last] = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/(?:\d+|\*))?$/.exec(sent.trim()) ?? []
  if (first === undefined || last === undefined) return invalid("Content-Range is FIRST-LAST, both in bytes")
  const [from, to] = [Number(first), Number(last)]
  if (to < from) return invalid("Content-Range ends before it begins")
  if (length !== undefined && length !== to - from + 1) {
    return Either.left(
      refused("SIZE_INVALID", `Content-Range has ${to - from + 1} bytes, and Content-Length ${length}`)
    )
  }
  return Either.right({ bytes: req, from, length: to - from + 1 })
}

/** The part of a file that `Range` asks for (RFC 9110 §14.1.2): one, else all of it; undefined when there is no such part. */
export const partOf = (range: string | undefined, size: number): { start: number; end: number } | undefined => {
  const whole = { start: 0, end: size - 1 }
  const match = range === undefined ? null : /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range)
  if (match === null || match[1] === "" && match[2] === "") return whole
  const [, first = "", last = ""] = match
  if (first === "") {
    return Number(last) === 0 || size === 0
      ? undefined
      : { start: Math.max(0, size - Number(last)), end: size - 1 }
  }
  const start = Number(first)
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== "" && Number(last) < start) return whole
  return start < size ? { start, end } : undefined
}
