import { type Excess, type JsonBounds, JsonScan, mostLevels } from "#src/shared/json-bounds.ts"

/** A catalog of thousands of items fits. The fields of a message are copied by each of the SDK's schemas that it passes. */
const bounds: JsonBounds = { levels: mostLevels, values: 50_000, fields: 5_000 }

const words: Readonly<Record<Excess, string>> = {
  levels: `its answer nests more than ${bounds.levels} levels deep`,
  values: `its answer has more than ${bounds.values} values`,
  fields: `its answer has an object of more than ${bounds.fields} fields`
}

/** A server's message holds more than anybody reads: to parse it would stop everything else. */
export class AnswerTooLarge extends Error {
  constructor(excess: Excess) {
    super(words[excess])
  }
}

const check = (excess: Excess | undefined) => {
  if (excess !== undefined) throw new AnswerTooLarge(excess)
}

/** For an answer of one message, chunk by chunk. */
export const boundsOfAnswer = () => {
  const scan = new JsonScan(bounds)
  return (chunk: Uint8Array) => check(scan.push(chunk))
}

const [lineFeed, carriageReturn] = [10, 13]
const isLineEnd = (byte: number) => byte === lineFeed || byte === carriageReturn
/** `data:` goes before what is scanned. */
const [dataName, prefixLength] = ["d".charCodeAt(0), "data:".length]
/** `event`, `id`, `retry` and comments are not parsed. A first line may begin with a byte order mark, which is none of them. */
const otherNames = new Set([..."eir:"].map((letter) => letter.charCodeAt(0)))

/** For an event stream (WHATWG HTML, server-sent events), chunk by chunk: the data lines of an event are one message. */
export const boundsOfEvents = () => {
  const scan = new JsonScan(bounds)
  let column = 0
  let skipped = 0
  let before: number | undefined
  return (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.length;) {
      const byte = chunk[at]!
      if (column === 0 && isLineEnd(byte)) {
        // One line end of two bytes, or an empty line, which ends the event.
        if (byte !== lineFeed || before !== carriageReturn) scan.restart()
        before = byte
        at++
        continue
      }
      if (column === 0) skipped = otherNames.has(byte) ? Infinity : byte === dataName ? prefixLength : 0
      let end = at
      while (end < chunk.length && !isLineEnd(chunk[end]!)) end++
      const hasEnded = end < chunk.length
      const next = hasEnded ? end + 1 : end
      // With its line end, which no string of JSON passes.
      check(scan.push(chunk, Math.min(next, at + Math.max(0, skipped - column)), next))
      column = hasEnded ? 0 : column + end - at
      before = chunk[next - 1]
      at = next
    }
  }
}
