import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import { Schema } from "effect"
import { EventSourceParserStream } from "eventsource-parser/stream"
import { type ReadableStream } from "node:stream/web"

/** What each request says about its sender since revision 2026-07-28, which has no handshake and no sessions. */
export interface Envelope {
  readonly revision: string
  readonly meta: Readonly<Record<string, unknown>>
}

const prefix = "io.modelcontextprotocol/"
const names = ["protocolVersion", "clientInfo", "clientCapabilities"].map((name) => prefix + name)
const firstStateless = "2026-07-28"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The envelope of a message with its `MCP-Protocol-Version` header; undefined in earlier revisions. */
export const envelopeOf = (message: unknown, header: string | undefined): Envelope | undefined => {
  const params = isRecord(message) ? message["params"] : undefined
  const sent = isRecord(params) && isRecord(params["_meta"]) ? params["_meta"] : {}
  const revision = sent[`${prefix}protocolVersion`] ?? header
  // Revisions are dates, which sort as strings.
  if (typeof revision !== "string" || !/^\d{4}-\d\d-\d\d$/.test(revision) || revision < firstStateless) return undefined
  const meta = Object.fromEntries(names.flatMap((name) => name in sent ? [[name, sent[name]]] : []))
  return { revision, meta: { [`${prefix}clientCapabilities`]: {}, ...meta, [`${prefix}protocolVersion`]: revision } }
}

/** The envelope of a request of our own. */
export const ownEnvelope = (revision: string, clientInfo: Readonly<Record<"name" | "version", string>>): Envelope => ({
  revision,
  meta: {
    [`${prefix}protocolVersion`]: revision,
    [`${prefix}clientInfo`]: clientInfo,
    [`${prefix}clientCapabilities`]: {}
  }
})

/** Whether a revision has neither handshake nor sessions. */
export const isStateless = (revision: string | null) => revision !== null && revision >= firstStateless

/** A name that is not plain ASCII is sent as `=?base64?…?=` (MCP 2026-07-28, transports). */
const encodedName = (name: string) =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith("=?")
    ? name
    : `=?base64?${Buffer.from(name, "utf8").toString("base64")}?=`

const nameHeader = ({ name, uri }: Readonly<Record<string, unknown>>) => {
  const named = name ?? uri
  return typeof named === "string" ? { "mcp-name": encodedName(named) } : {}
}

const id = "berth-gateway"
const Answer = Schema.Struct({
  id: Schema.Literal(id),
  result: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Struct({ code: Schema.Number, message: Schema.String }))
})
const isAnswer = Schema.is(Answer)

type Notice = (method: string, params: unknown) => void

/** The response to our request in an event stream, and the notices before it; later events are not read. */
const answerIn = async (stream: ReadableStream, onNotice: Notice) => {
  const events = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) {
    const message: unknown = JSON.parse(data)
    if (isAnswer(message)) return message
    if (isRecord(message) && typeof message["method"] === "string") onNotice(message["method"], message["params"])
  }
  return undefined
}

export interface StatelessRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly envelope: Envelope
  /** What the server says beside its answer. */
  readonly onNotice?: Notice
}

/** What did not succeed is not counted before it is here (calmEvents), and says little. */
const longestRefusal = 64 * 1024

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends one stateless request and returns its result. Rejects with the errors of the SDK's client. */
export const statelessRequest = async (
  fetch: FetchLike,
  url: URL,
  { envelope, method, onNotice = () => undefined, params }: StatelessRequest,
  signal: AbortSignal
): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": envelope.revision,
      "mcp-method": method,
      ...nameHeader(params)
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: envelope.meta } }),
    signal
  })
  const streamed = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")
  const body = streamed ? "" : await response.text()
  const answer = streamed && response.body !== null
    ? await answerIn(response.body as ReadableStream, onNotice)
    : jsonIn(response.ok ? body : body.slice(0, longestRefusal))
  if (!isAnswer(answer)) {
    const message = `${method} was answered with ${response.status} and no response: ${body}`
    throw new StreamableHTTPError(response.status, message)
  }
  if (answer.error !== undefined) throw new McpError(answer.error.code, answer.error.message)
  return answer.result
}
