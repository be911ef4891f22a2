import type { MachineLine } from "#src/machines/Machines.ts"
import { Chunk, Effect, Option, Stream } from "effect"
import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs"
import { join } from "node:path"
import { parseLines } from "./lines.ts"

// More than the longest line a keeper writes, or reading would never advance.
const CHUNK = 256 * 1024

const readAt = (path: string, position: number): Uint8Array => {
  const file = openSync(path, "r")
  try {
    const bytes = Buffer.allocUnsafe(CHUNK)
    return bytes.subarray(0, readSync(file, bytes, 0, CHUNK, position))
  } finally {
    closeSync(file)
  }
}

/** The longest poll interval, in milliseconds, while nothing is written. */
const MAX_WAIT = 250

export interface Page {
  readonly lines: ReadonlyArray<MachineLine>
  readonly next: number
}

/**
 * The next lines at or after `offset`. The keeper names each file by the offset of its first byte and keeps the
 * last few; an offset before them moves up to the oldest, and a line says how much was lost.
 */
export const readPage = (dir: string, offset: number): Page => {
  const starts = readdirSync(dir).filter((name) => /^out\.\d+$/.test(name)).sort()
  const first = starts[0]
  if (first === undefined) return { lines: [], next: offset }
  const oldest = Number(first.slice(4))
  const from = Math.max(offset, oldest)
  const lost: ReadonlyArray<MachineLine> = offset < oldest
    ? [{ offset: oldest, stream: "stderr", text: `[${oldest - offset} bytes of earlier output were not kept]` }]
    : []
  const candidates = starts.filter((name) => Number(name.slice(4)) <= from)
  for (const name of [candidates.at(-1), starts[candidates.length]]) {
    if (name === undefined) break
    const start = Number(name.slice(4))
    const lines = parseLines(readAt(join(dir, name), Math.max(0, from - start)), Math.max(from, start))
    const last = lines.at(-1)
    if (last !== undefined) return { lines: [...lost, ...lines], next: last.offset }
  }
  return { lines: lost, next: from }
}

/** Follows the output until the directory is gone. */
export const followOutput = (dir: string, offset: number): Stream.Stream<MachineLine> =>
  Stream.unfoldChunkEffect({ at: offset, wait: 50 }, (state) =>
    Effect.gen(function*() {
      let wait = state.wait
      for (;;) {
        const page = yield* Effect.option(Effect.try(() => readPage(dir, state.at)))
        if (Option.isNone(page) && !existsSync(dir)) return Option.none()
        if (Option.isSome(page) && page.value.lines.length > 0) {
          return Option.some([Chunk.fromIterable(page.value.lines), { at: page.value.next, wait: 50 }])
        }
        yield* Effect.sleep(wait)
        wait = Math.min(MAX_WAIT, wait * 1.5)
      }
    }))
