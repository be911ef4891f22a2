import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { setMaxListeners } from "node:events"
import { request, type RequestOptions } from "node:http"
import { ReadableStream } from "node:stream/web"
import { connectTo } from "./host.ts"
import { type MachineAddress } from "./Machines.ts"
import { withoutPlace } from "./socket-failure.ts"
import { WholeResponse } from "./WholeResponse.ts"

const bodiless = new Set([101, 204, 205, 304])

/** A machine that is silent for so long counts as failed. */
const silenceMs = 5_000

/** The body has more bytes than are read of one answer. */
export class BodyOverLimit extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/** Fails when a body is too large, or endless. */
async function* limited(source: AsyncIterable<Buffer> | Iterable<Buffer>, maxBytes: number) {
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > maxBytes) throw new BodyOverLimit(maxBytes)
    yield chunk
  }
}

/** An answer of one message is read to its end up to so many bytes: nobody does anything with its beginning. */
const mostWhole = 256 * 1024

async function* joined(chunks: ReadonlyArray<Buffer>, rest: AsyncIterable<Buffer>) {
  yield* chunks
  yield* rest
}

const readOf = async (body: AsyncGenerator<Buffer>): Promise<Buffer | AsyncIterable<Buffer>> => {
  const chunks: Array<Buffer> = []
  for (let size = 0; size <= mostWhole;) {
    const { done, value } = await body.next()
    if (done === true) return Buffer.concat(chunks)
    chunks.push(value)
    size += value.length
  }
  return joined(chunks, body)
}

/** An answer that begins, or that has come whole. */
export interface Incoming {
  readonly statusCode: number
  /** Names and values. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly body: Buffer | AsyncIterable<Buffer>
}

const readWithin = async (body: Incoming["body"], maxBytes: number, isMessage: boolean) => {
  if (!Buffer.isBuffer(body)) return isMessage ? await readOf(limited(body, maxBytes)) : limited(body, maxBytes)
  if (body.length > maxBytes) throw new BodyOverLimit(maxBytes)
  return isMessage ? body : limited([body], maxBytes)
}

/** Fails where a `Response` can't be made of what a machine chose, or its message is larger than that. */
export const responseOf = async ({ body: given, rawHeaders, statusCode: status }: Incoming, maxBytes: number) => {
  if (status < 200 || status > 599) throw new Error(`the answer has status ${status}, which HTTP does not have`)
  const type = rawHeaders.find((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === "content-type") ?? ""
  const isMessage = status === 200 && /^application\/json\b/i.test(type)
  const body = await readWithin(given, maxBytes, isMessage)
  if (Buffer.isBuffer(body)) return new WholeResponse(body, status, rawHeaders)
  const received = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) received.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  const content = bodiless.has(status) ? null : ReadableStream.from(body)
  return new Response(content as ConstructorParameters<typeof Response>[0], { status, headers: received })
}

/**
 * `fetch` through a connection that the caller chooses. Only the path of the URL is used; redirects are not followed;
 * `headers` are sent with each request.
 */
export const fetchThrough =
  (connection: () => RequestOptions, headers: Readonly<Record<string, string>>, maxBytes: number): FetchLike =>
  (url, init) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url)
      const { body, signal } = init ?? {}
      // All requests of an MCP session have its signal: eleven at once are not a leak.
      if (signal !== undefined && signal !== null) setMaxListeners(0, signal)
      const outgoing = request({
        ...connection(),
        method: init?.method ?? "GET",
        path: pathname + search,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers },
        setHost: false,
        ...(signal === undefined || signal === null ? {} : { signal })
      })
      outgoing.on("error", (error) => reject(withoutPlace(error)))
      outgoing.on("timeout", () => outgoing.destroy(new Error("the machine stays silent")))
      outgoing.on("response", (incoming) => {
        // The machine chooses status and headers: what a Response refuses must not end the process.
        const { rawHeaders, statusCode = 502 } = incoming
        responseOf({ statusCode, rawHeaders, body: incoming }, maxBytes).then(resolve, (error: unknown) => {
          outgoing.destroy()
          reject(error)
        })
      })
      outgoing.end(typeof body === "string" ? body : undefined)
    })

/** `fetch` on a machine's address, which may be a Unix socket. */
export const machineFetch = (
  machine: MachineAddress,
  headers: Readonly<Record<string, string>>,
  maxBytes: number
): FetchLike => fetchThrough(() => ({ ...connectTo(machine), agent: false, timeout: silenceMs }), headers, maxBytes)
