import { isUtf8 } from "node:buffer"
import { detectEncoding } from "./detect-encoding.ts"
import { type Encoding } from "./Import.ts"

/** A file's text as UTF-8, without a byte order mark. */
export interface Decoded {
  readonly encoding: Encoding
  /** Whether the encoding was guessed from the text. */
  readonly isGuess: boolean
  readonly utf8: Buffer
}

const startsWith = (bytes: Buffer, ...mark: ReadonlyArray<number>) => mark.every((byte, at) => bytes[at] === byte)

/** The length of the character at an offset (RFC 3629 §4), roughly; 0 when it is none. */
const characterLength = (bytes: Buffer, at: number) => {
  const first = bytes[at]!
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  for (let next = 1; next < length; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/** Whether a file is UTF-8 but for some bytes: hardly any text in another encoding has even one such sequence. */
const isMostlyUtf8 = (bytes: Buffer) => {
  let whole = 0
  let stray = 0
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at)
    if (length === 0) stray++
    else if (length > 1) whole++
    at += Math.max(1, length)
  }
  return whole > 0 && whole >= stray
}

/** By a byte order mark, or because nothing else looks like it; undefined when it must be guessed. */
const certainEncoding = (bytes: Buffer): readonly [Encoding, markLength: number] | undefined => {
  if (startsWith(bytes, 0xff, 0xfe)) return ["utf-16le", 2]
  if (startsWith(bytes, 0xfe, 0xff)) return ["utf-16be", 2]
  // Without a mark, NUL in every second byte of the first letters shows UTF-16: other text has no NUL.
  if (bytes.length >= 4 && bytes[1] === 0 && bytes[3] === 0 && bytes[0] !== 0 && bytes[2] !== 0) return ["utf-16le", 0]
  if (bytes.length >= 4 && bytes[0] === 0 && bytes[2] === 0 && bytes[1] !== 0 && bytes[3] !== 0) return ["utf-16be", 0]
  if (startsWith(bytes, 0xef, 0xbb, 0xbf)) return ["utf-8", 3]
  return isUtf8(bytes) ? ["utf-8", 0] : undefined
}

/** Decodes a file by its byte order mark, as UTF-8 if it mostly is, else as what its words look like. */
export const decode = (file: Uint8Array): Decoded => {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const certain = certainEncoding(bytes)
  const isUnicode = certain !== undefined || isMostlyUtf8(bytes)
  const [encoding, markLength] = certain ?? [isUnicode ? "utf-8" : detectEncoding(bytes), 0]
  const text = bytes.subarray(markLength)
  if (encoding === "utf-8" && isUtf8(text)) return { encoding, isGuess: false, utf8: text }
  const decoder = new TextDecoder(encoding)
  // In a stream: Node 20 takes a whole text in windows-1252 for ISO-8859-1.
  const decoded = decoder.decode(text, { stream: true }) + decoder.decode()
  return { encoding, isGuess: !isUnicode, utf8: Buffer.from(decoded) }
}
