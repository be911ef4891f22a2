import { type Answer, type Sent } from "./http.ts"

const revision = "2026-07-28"

const prefix = "io.modelcontextprotocol/"

/** What each request of revision 2026-07-28 says of its sender. */
export const envelope = (protocolVersion: string = revision) => ({
  [`${prefix}protocolVersion`]: protocolVersion,
  [`${prefix}clientInfo`]: { name: "test", version: "1.0.0" },
  [`${prefix}clientCapabilities`]: {}
})

export interface Rpc {
  readonly id: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
}

/** The last message of an answer, whether it is the body or came as an event. */
export const rpcOf = ({ text }: { readonly text: string }): Rpc => {
  const events = text.match(/^data: .*$/gm)
  return JSON.parse(events?.at(-1)?.slice("data: ".length) ?? text) as Rpc
}

export interface Ask {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the envelope that such a request has. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** A request of revision 2026-07-28, with the headers that mirror its body. */
export const statelessPost = ({ headers, meta = envelope(), method, params = {} }: Ask): Sent => ({
  body: { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: meta } },
  headers: {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
    ...(typeof params["uri"] === "string" ? { "mcp-name": params["uri"] } : {}),
    ...headers
  }
})

/** The same request in an earlier revision. */
export const sessionPost = ({ headers, method, params = {} }: Ask): Sent => ({
  body: { jsonrpc: "2.0", id: 7, method, params },
  headers: {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    ...headers
  }
})

/** The status of an answer with the code of its JSON-RPC error, if it has one. */
export const outcomeOf = (answer: Answer): readonly [number, number | undefined] => [
  answer.status,
  rpcOf(answer).error?.code
]
