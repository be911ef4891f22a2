import { version } from "#src/config/version.ts"
import { BrokenStreams } from "#src/routing/BrokenStreams.ts"
import { calmEvents } from "#src/routing/calm-events.ts"
import { withFewRequests, withFewStreams } from "#src/routing/quiet-transport.ts"
import { isStateless, ownEnvelope, statelessRequest } from "#src/routing/stateless-request.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type FetchLike, type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResultSchema,
  ToolListChangedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import { ReadableStream } from "node:stream/web"
import { setTimeout } from "node:timers/promises"
import { isLostSession, SessionEnded } from "./lost-session.ts"

type Fields = Readonly<Record<string, unknown>>

/** How a member speaks, as its deployment's handshake found it. */
export interface MemberAddress {
  /** Its canonical URL, without a trailing slash. */
  readonly publicUrl: string
  readonly transport: "streamable-http" | "sse"
  readonly revision: string | null
}

export interface MemberSession {
  /** One request, and its result as it came. Rejects with the SDK's errors. */
  readonly request: (method: string, params: Fields, signal: AbortSignal) => Promise<Fields>
  /** Whether it failed since the member has forgotten the session, so that it did nothing. */
  readonly isLost: (error: unknown) => boolean
  readonly close: () => void
}

const isGet = (init: RequestInit | undefined) => (init?.method ?? "GET") === "GET"

/** `fetch` that tells when an event stream has ended, whoever ended it. */
const tellingEnd = (fetch: FetchLike, onEnd: () => void): FetchLike => async (url, init) => {
  const answer = await fetch(url, init)
  const { body, headers, ok, status } = answer
  if (body === null || !ok || !isGet(init)) return answer
  const told = async function*() {
    try {
      yield* body as ReadableStream<Uint8Array>
    } finally {
      onEnd()
    }
  }
  return new Response(ReadableStream.from(told()) as ConstructorParameters<typeof Response>[0], { status, headers })
}

/**
 * `fetch` that tells when a GET was answered. The SDK's client opens the session's own stream without waiting for it, and
 * what a server says there before it is open goes to nobody.
 */
const tellingStream = (fetch: FetchLike, onAnswered: () => void): FetchLike => async (url, init) => {
  const answered = fetch(url, init)
  return isGet(init) ? await answered.finally(onAnswered) : await answered
}
/** A member that does not answer it holds no call for longer. */
const streamMillis = 250

const clientInfo = { name: "berth-composites", version }
// Each client would make one of its own, which costs more than the rest of it; nothing is validated with it.
const jsonSchemaValidator = new AjvJsonSchemaValidator()
/** The caller's deadline comes first; this ends what nobody waits for any more. */
const openMillis = 10_000

/** The member did not answer the handshake. A later call, which waits for the same session, hears of it as well. */
export class NoHandshake extends Error {
  override message = "no answer to the MCP handshake"
}

const lists = [
  ToolListChangedNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema
] as const
const saysListChanged = (method: string) => lists.some(({ shape }) => shape.method.value === method)

/**
 * Opens MCP at a member: the revisions with a handshake by the SDK's client, and later ones, which have none, by
 * requests of their own. `onListChanged`: the member says that what it offers is another now.
 */
export const openSession = async (
  { publicUrl, revision, transport: kind }: MemberAddress,
  fetch: FetchLike,
  onListChanged: () => void
): Promise<MemberSession> => {
  if (isStateless(revision)) {
    const envelope = ownEnvelope(revision ?? "", clientInfo)
    const url = new URL(`${publicUrl}/mcp`)
    const onNotice = (method: string) => {
      if (saysListChanged(method)) onListChanged()
    }
    return {
      request: async (method, params, signal) =>
        await statelessRequest(calmEvents(fetch), url, { method, params, envelope, onNotice }, signal) as Fields,
      isLost: () => false,
      close: () => undefined
    }
  }
  const client = new Client(clientInfo, { capabilities: {}, jsonSchemaValidator })
  for (const schema of lists) client.setNotificationHandler(schema, onListChanged)
  const close = () => void client.close().catch(() => undefined)
  let flood: Error | undefined
  const { lastEvent, reason } = new BrokenStreams()
  const onTooMany = (error: Error) => {
    flood = error
    close()
  }
  const calm = withFewStreams(calmEvents(fetch, { onTooMany, lastEvent }))
  let onStream: () => void = () => undefined
  const stream = new Promise<void>((resolve) => (onStream = resolve))
  // An SSE session is its stream: the SDK's client would open another one, and wait for answers that never come.
  const transport = kind === "sse"
    ? new SSEClientTransport(new URL(`${publicUrl}/sse`), { fetch: tellingEnd(calm, close) })
    : new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), { fetch: tellingStream(calm, () => onStream()) })
  const signal = AbortSignal.timeout(openMillis)
  try {
    // The SDK's transports predate `exactOptionalPropertyTypes`.
    await client.connect(withFewRequests(transport as Transport), { signal })
    const { prompts, resources, tools } = client.getServerCapabilities() ?? {}
    if (kind !== "sse" && [prompts, resources, tools].some((offered) => offered?.listChanged === true)) {
      await Promise.race([stream, setTimeout(streamMillis, undefined, { ref: false })])
    }
  } catch (error) {
    close()
    throw flood ?? (signal.aborted ? new NoHandshake() : reason(error))
  }
  return {
    request: (method, params, signal) => {
      if (client.transport === undefined) return Promise.reject(new SessionEnded())
      return client.request({ method, params: { ...params } }, ResultSchema, { signal }).catch((error: unknown) => {
        throw flood ?? reason(error)
      })
    },
    isLost: isLostSession,
    close
  }
}
