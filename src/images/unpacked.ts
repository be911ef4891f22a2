import { pipeline, Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { isZstd, unzstd } from "./zstd-frames.ts"

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>) {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** The archive in a layer's file, whose first bytes say how it is compressed: media types may be wrong. */
export async function* unpacked(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = file[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done === true) return
  const head = first.value
  const whole = joined(head, chunks)
  if (isZstd(head)) return yield* unzstd(whole)
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* whole
  const unzipped = createGunzip()
  pipeline(Readable.from(whole), unzipped, () => {})
  yield* unzipped as AsyncIterable<Buffer>
}
