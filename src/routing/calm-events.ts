import { WholeResponse } from "#src/machines/WholeResponse.ts"
import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ReadableStream } from "node:stream/web"
import { boundsOfAnswer, boundsOfEvents } from "./answer-bounds.ts"

/** So much at once, and so much more each second. Progress and notices of a call are far below it. */
const atOnce = { events: 200, lines: 20_000 }
const eachSecond = { events: 20, lines: 2_000 }

/** The server sends more than anybody reads: to parse it would stop everything else. */
export class TooManyEvents extends Error {
  override message = `its event stream has more than ${atOnce.events} messages at once`
}

const [lineFeed, carriageReturn] = [10, 13]

/** Counts the events and lines of a stream, and fails before the chunk that has too many is read. */
const makeAllowance = () => {
  const left = { ...atOnce }
  let last = performance.now()
  let before: number | undefined
  let isBlank = true
  return (chunk: Uint8Array) => {
    const now = performance.now()
    for (const kind of ["events", "lines"] as const) {
      left[kind] = Math.min(atOnce[kind], left[kind] + (now - last) / 1000 * eachSecond[kind])
    }
    last = now
    for (const byte of chunk) {
      if (byte === lineFeed && before === carriageReturn) {
        // One line end of two bytes.
      } else if (byte === lineFeed || byte === carriageReturn) {
        left.lines--
        if (isBlank) left.events--
        isBlank = true
      } else isBlank = false
      before = byte
    }
    if (left.events < 0 || left.lines < 0) throw new TooManyEvents()
  }
}

interface Told {
  readonly onTooMany?: (error: Error) => void
  /** What ends a stream that broke off; undefined: its error does. */
  readonly lastEvent?: (request: RequestInit, error: Error) => Uint8Array | undefined
}

async function* calmed(body: AsyncIterable<Uint8Array>, request: RequestInit, { lastEvent, onTooMany }: Told) {
  const allow = makeAllowance()
  const check = boundsOfEvents()
  let isTooMany = false
  try {
    for await (const chunk of body) {
      try {
        allow(chunk)
        check(chunk)
      } catch (error) {
        isTooMany = true
        onTooMany?.(error as Error)
        throw error
      }
      yield chunk
    }
  } catch (error) {
    const last = isTooMany ? undefined : lastEvent?.(request, error as Error)
    if (last === undefined) throw error
    yield last
  }
}

const [bracket, ...blanks] = "[ \t\n\r".split("").map((letter) => letter.charCodeAt(0))

/** Nobody sends batches, so that an answer is none (JSON-RPC 2.0, Batch): thousands of messages would come in one. */
const makeSingle = () => {
  const checkBounds = boundsOfAnswer()
  let isBegun = false
  return (chunk: Uint8Array) => {
    const first: number | undefined = isBegun ? undefined : chunk.find((byte) => !blanks.includes(byte))
    isBegun ||= first !== undefined
    if (first === bracket) throw new SyntaxError("the answer is a batch")
    checkBounds(chunk)
  }
}

async function* single(body: AsyncIterable<Uint8Array>) {
  const check = makeSingle()
  for await (const chunk of body) {
    check(chunk)
    yield chunk
  }
}

/**
 * `fetch` of a server that others wrote, for one message at a time: neither its event streams (WHATWG HTML, server-sent
 * events) nor batches may flood us, nor a message that holds more than its readers can take (AnswerTooLarge).
 */
export const calmEvents = (fetch: FetchLike, told: Told = {}): FetchLike => async (url, init = {}) => {
  const answer = await fetch(url, init)
  if (answer instanceof WholeResponse) {
    makeSingle()(answer.bytesRead)
    return answer
  }
  const { body, headers, ok, status } = answer
  if (body === null || !ok) return answer
  const bytes = body as ReadableStream<Uint8Array>
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "")
  const stream = ReadableStream.from(isStream ? calmed(bytes, init, told) : single(bytes))
  return new Response(stream as ConstructorParameters<typeof Response>[0], { status, headers })
}
