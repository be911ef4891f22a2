import { parseUrl } from "#src/format/parse-url.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Redacted } from "effect"
import { endpointOf } from "./endpoint.ts"
import { describeFailure, errorCodeIn, type Exchange, rpcCodeIn, saidIn } from "./failure.ts"
import { fetchFrom } from "./loopback.ts"
import { McpClientError } from "./McpClientError.ts"
import { clientInfo, type McpSession, openedSession } from "./session.ts"
import { mayBeStateless, statelessSession } from "./stateless.ts"

export interface McpServerAddress {
  readonly url: string
  readonly token?: Redacted.Redacted | undefined
}

const causeCode = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { code } = cause as { readonly code?: unknown }
  return typeof code === "string" ? code : cause instanceof Error ? cause.message : "unknown"
}

const mostRead = 16_384
const readMillis = 2_000

/** The beginning of a body, which may be endless or never come; the rest is left to whoever reads the response. */
const beginning = async (response: Response): Promise<string> => {
  const reader = response.clone().body?.getReader()
  if (reader === undefined) return ""
  const decoder = new TextDecoder()
  let text = ""
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), readMillis)
  try {
    while (text.length < mostRead) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value as Uint8Array, { stream: true })
    }
  } catch {
    // What came of it may be enough.
  }
  clearTimeout(timer)
  // The other reader of a body that was split has to end it, too: nobody waits for that.
  void reader.cancel().catch(() => undefined)
  return text
}

/** Records how requests end, but not the GET of Streamable HTTP, which is an optional background stream. */
const watchedFetch =
  (exchange: Exchange, matters: (method: string) => boolean) =>
  async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input)
    const recorded = matters(init.method ?? "GET")
    if (recorded) {
      exchange.code =
        exchange.status =
        exchange.said =
        exchange.errorCode =
        exchange.rpcCode =
          undefined
    }
    try {
      const response = await fetchFrom(url, init)
      if (recorded && !response.ok) {
        exchange.status = response.status
        const body = await beginning(response)
        exchange.said = saidIn(body)
        exchange.errorCode = errorCodeIn(body)
        exchange.rpcCode = rpcCodeIn(body)
      }
      return response
    } catch (error) {
      if (recorded && init.signal?.aborted !== true) exchange.code = causeCode(error)
      throw error
    }
  }

/** The SDK's transports predate `exactOptionalPropertyTypes`: their optional members may be undefined. */
const asTransport = (transport: SSEClientTransport | StreamableHTTPClientTransport) => transport as Transport

const connect = async (url: URL, { token }: McpServerAddress, exchange: Exchange): Promise<McpSession> => {
  const requestInit = {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` }),
      // A Berth lists its everyday tools unless it is asked; other servers do not know the header.
      toolsets: "all"
    }
  }
  const open = async (transport: Transport) => {
    const client = new Client(clientInfo)
    await client.connect(transport)
    return openedSession(client)
  }
  const openSse = () =>
    open(asTransport(new SSEClientTransport(url, { fetch: watchedFetch(exchange, () => true), requestInit })))
  if (url.pathname.endsWith("/sse")) return openSse()
  const fetch = watchedFetch(exchange, (method) => method === "POST")
  try {
    return await open(asTransport(new StreamableHTTPClientTransport(url, { fetch, requestInit })))
  } catch (error) {
    // Its next request tells whether it speaks that revision.
    if (mayBeStateless(error, exchange)) {
      const withHeaders: FetchLike = (url, init) =>
        fetch(url, { ...init, headers: { ...requestInit.headers, ...Object.fromEntries(new Headers(init?.headers)) } })
      return statelessSession(url, withHeaders)
    }
    // MCP 2025-11-25, Transports § Backwards Compatibility: 404 and 405 to an initialize may be an HTTP+SSE server.
    if (!(error instanceof StreamableHTTPError) || (error.code !== 404 && error.code !== 405)) throw error
    const first = { ...exchange }
    return await openSse().catch(() => {
      Object.assign(exchange, first)
      throw error
    })
  }
}

/** At the endpoint of the address; where a server speaks MCP elsewhere, at the address itself. */
const opened = async (given: URL, address: McpServerAddress, exchange: Exchange): Promise<McpSession> => {
  const url = endpointOf(given)
  try {
    return await connect(url, address, exchange)
  } catch (error) {
    // Nobody answered in time, or at all: the address itself is the same machine.
    const isSilent = exchange.code !== undefined || error instanceof McpError
    if (isSilent || url.pathname === given.pathname.replace(/\/$/, "")) throw error
    const first = { ...exchange }
    return await connect(given, address, exchange).catch(() => {
      Object.assign(exchange, first)
      throw error
    })
  }
}

const parseAddress = (text: string): Effect.Effect<URL, McpClientError> => {
  const url = parseUrl(text)
  return url !== undefined && /^https?:$/.test(url.protocol)
    ? Effect.succeed(url)
    : new McpClientError({ message: `"${text}" is not the URL of an MCP server, such as http://localhost:8787/mcp.` })
}

/** Connects, runs `use`, disconnects. Streamable HTTP first; HTTP+SSE for `…/sse` and servers that support only it. */
export const withClient = <A>(
  address: McpServerAddress,
  use: (client: McpSession, signal: AbortSignal) => Promise<A>
): Effect.Effect<A, McpClientError> =>
  Effect.flatMap(parseAddress(address.url), (url) => {
    const exchange: Exchange = {}
    const failed = (error: unknown) => describeFailure(error, exchange, address.url, address.token !== undefined)
    return Effect.acquireUseRelease(
      Effect.tryPromise({ try: () => opened(url, address, exchange), catch: failed }),
      (client) => Effect.tryPromise({ try: (signal) => use(client, signal), catch: failed }),
      (client) => Effect.promise(() => client.close().catch(() => undefined))
    )
  })
