import { type ByteReader, byteReader } from "#src/shared/byte-reader.ts"
import { pipeline, Readable, Transform } from "node:stream"
import * as zlib from "node:zlib"
import { imageError } from "./ImageError.ts"

/** Node 22.15 and later have it. */
const create: unknown = Reflect.get(zlib, "createZstdDecompress")

const decoder = () => {
  const stream: unknown = typeof create === "function" ? Reflect.apply(create, zlib, []) : undefined
  if (stream instanceof Transform) return stream
  throw imageError(
    "unsupported",
    `A layer is compressed by zstd, which Node.js 22.15 and newer can read, and this is ${process.version}: ` +
      "run the platform with a newer Node.js, or push the image with layers compressed by gzip"
  )
}

const magic = 0xfd2fb528
const isSkippable = (number: number) => number >= 0x184d2a50 && number <= 0x184d2a5f

/** Whether these first four bytes begin a frame (RFC 8878 §3.1). */
export const isZstd = (head: Buffer) => {
  const number = head.length < 4 ? 0 : head.readUInt32LE()
  return number === magic || isSkippable(number)
}

const whole = async (input: ByteReader, count: number) => {
  const bytes = await input.exactly(count)
  if (bytes.length < count) throw new Error("the archive is cut short")
  return bytes
}

async function* pass(input: ByteReader, count: number) {
  for (let left = count; left > 0;) {
    const part = await input.some(left)
    if (part.length === 0) throw new Error("the archive is cut short")
    left -= part.length
    yield part
  }
}

/** The bytes of one frame after its magic number (RFC 8878 §3.1.1). */
async function* frame(input: ByteReader, start: Buffer) {
  const [flags = 0] = await whole(input, 1)
  const isSingle = (flags & 0x20) !== 0
  const sizeField = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
  const dictionaryField = [0, 1, 2, 4][flags & 3] ?? 0
  yield Buffer.concat([
    start,
    Buffer.of(flags),
    await whole(input, (isSingle ? 0 : 1) + dictionaryField + sizeField)
  ])
  for (let isLast = false; !isLast;) {
    const header = await whole(input, 3)
    const fields = header.readUIntLE(0, 3)
    isLast = (fields & 1) === 1
    yield header
    // A block of one repeated byte has that byte alone.
    yield* pass(input, (fields >> 1 & 3) === 1 ? 1 : fields >> 3)
  }
  if ((flags & 4) !== 0) yield whole(input, 4)
}

/**
 * What frames of zstd unpack to, one after the other. Older Nodes' own stream ends with the first, and a layer may have
 * many, and some to be skipped (RFC 8878 §3.1.2).
 */
export async function* unzstd(source: AsyncIterable<unknown>) {
  const input = byteReader(source)
  for (let start = await input.exactly(4); start.length > 0; start = await input.exactly(4)) {
    const number = isZstd(start) ? start.readUInt32LE() : undefined
    if (number === undefined) throw new Error("the archive has something between its frames")
    if (number === magic) {
      const unpacked = decoder()
      pipeline(Readable.from(frame(input, start)), unpacked, () => {})
      yield* unpacked as AsyncIterable<Buffer>
    } else for await (const _ of pass(input, (await whole(input, 4)).readUInt32LE())) { /* it is skipped */ }
  }
}
