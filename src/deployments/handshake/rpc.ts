import { EventSourceParserStream } from "eventsource-parser/stream"
import { type ReadableStream, TransformStream } from "node:stream/web"
import { refusesHost } from "../health.ts"
import { type Cause } from "./failure.ts"

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A JSON-RPC answer: its result, or why there is none. */
export type Reply = { readonly _tag: "Result"; readonly result: unknown } | Cause

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reply to request `id` in a message; undefined: it is another message. An error may be without an id (JSON-RPC 2.0 §5). */
export const replyIn = (text: string, id: number): Reply | undefined => {
  const message = parse(text)
  if (!isFields(message) || message["jsonrpc"] !== "2.0") return undefined
  const { error } = message
  if (isFields(error) && (message["id"] === id || (message["id"] ?? null) === null)) {
    const { code, message: said } = error
    return {
      _tag: "Error",
      code: typeof code === "number" ? code : 0,
      message: typeof said === "string" ? said : "without a message"
    }
  }
  return message["id"] === id && "result" in message ? { _tag: "Result", result: message["result"] } : undefined
}

const typeOf = (response: Response) => (response.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase()

export const isEventStream = (response: Response) => typeOf(response) === "text/event-stream"

/** A handshake and a list of tools take some ten events. */
const mostEvents = 1_000

/** Every line end as LF: the parser takes quadratic time over lines that end with CR alone (WHATWG HTML, 9.2.6). */
const withLineFeeds = () => {
  let isAfterCr = false
  return new TransformStream<string, string>({
    transform: (chunk, controller) => {
      const rest = isAfterCr && chunk.startsWith("\n") ? chunk.slice(1) : chunk
      isAfterCr = chunk.endsWith("\r")
      controller.enqueue(rest.replace(/\r\n?/g, "\n"))
    }
  })
}

/** The events of a stream; fails after too many. */
export async function* eventsOf({ body }: Response) {
  if (body === null) return
  let seen = 0
  const text = (body as ReadableStream).pipeThrough(new TextDecoderStream()).pipeThrough(withLineFeeds())
  for await (const event of text.pipeThrough(new EventSourceParserStream())) {
    if (++seen > mostEvents) throw new Error(`its event stream has more than ${mostEvents} events`)
    yield event
  }
}

/** The content type of an answer, for a sentence. It is the machine's word: only a plain one is repeated. */
export const kindOf = (response: Response) => {
  const type = typeOf(response)
  return /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : "no content type"
}

/** The reply to request `id` in an HTTP answer, which is JSON or an event stream (MCP 2025-11-25, Streamable HTTP). */
export const replyOf = async (response: Response, id: number): Promise<Reply> => {
  const { status } = response
  if (status === 200 && isEventStream(response)) {
    for await (const { data } of eventsOf(response)) {
      const reply = replyIn(data, id)
      if (reply !== undefined) return reply
    }
    return { _tag: "Lost", why: "the event stream ended before the answer" }
  }
  const text = await response.text()
  // The SDK's guard answers with a JSON-RPC error, which says nothing of MCP.
  if (refusesHost(status, text)) return { _tag: "HostRefused", status }
  const reply = replyIn(text, id)
  if (reply !== undefined) return reply
  return status === 200
    ? { _tag: "NotMcp", what: `200 with ${kindOf(response)} that is not a JSON-RPC answer` }
    : { _tag: "Status", status }
}
