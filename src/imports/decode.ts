import { isUtf8 } from "node:buffer"
import { type Preview } from "./Import.ts"

type Encoding = Preview["encoding"]

/** A file's text as UTF-8, without a byte order mark. */
export interface Decoded {
  readonly encoding: Encoding
  readonly utf8: Buffer
}

const startsWith = (bytes: Buffer, ...mark: ReadonlyArray<number>) => mark.every((byte, at) => bytes[at] === byte)

const encodingOf = (bytes: Buffer): readonly [Encoding, markLength: number] => {
  if (startsWith(bytes, 0xff, 0xfe)) return ["utf-16le", 2]
  if (startsWith(bytes, 0xfe, 0xff)) return ["utf-16be", 2]
  // Without a mark, NUL in every second byte of the first letters shows UTF-16: other text has no NUL.
  if (bytes.length >= 4 && bytes[1] === 0 && bytes[3] === 0 && bytes[0] !== 0 && bytes[2] !== 0) return ["utf-16le", 0]
  if (bytes.length >= 4 && bytes[0] === 0 && bytes[2] === 0 && bytes[1] !== 0 && bytes[3] !== 0) return ["utf-16be", 0]
  if (isUtf8(bytes)) return ["utf-8", startsWith(bytes, 0xef, 0xbb, 0xbf) ? 3 : 0]
  // The last choice, because any byte is valid in it (WHATWG Encoding §9).
  return ["windows-1252", 0]
}

const pieceBytes = 64 * 1024

/** Decodes a file by its byte order mark, as UTF-8 if valid, else as windows-1252, which old spreadsheets write. */
export function* decode(file: Uint8Array): Generator<void, Decoded> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const [encoding, markLength] = encodingOf(bytes)
  const text = bytes.subarray(markLength)
  if (encoding === "utf-8") return { encoding, utf8: text }
  const decoder = new TextDecoder(encoding)
  const pieces: Array<Buffer> = []
  for (let at = 0; at < text.length; at += pieceBytes) {
    pieces.push(Buffer.from(decoder.decode(text.subarray(at, at + pieceBytes), { stream: true })))
    yield
  }
  pieces.push(Buffer.from(decoder.decode()))
  return { encoding, utf8: Buffer.concat(pieces) }
}

/** The text of a file, all at once. */
export const textOf = (file: Uint8Array) => {
  const steps = decode(file)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value.utf8.toString("utf8")
}
