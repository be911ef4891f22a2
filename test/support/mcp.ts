import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { outputValidators } from "./output-validators.ts"

export type Way = "Streamable HTTP" | "SSE"

export interface McpOptions {
  readonly token: string
  readonly way?: Way
  /** As in `?toolsets=deploy`. */
  readonly query?: string
  /** Another endpoint than `/mcp`, for Streamable HTTP. */
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The SDK's own client, connected to the MCP endpoints below a URL: the platform's own, or a hosted server's. */
export const connectMcp = async (
  base: string,
  { headers, path = "/mcp", query = "", token, way = "Streamable HTTP" }: McpOptions
) => {
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } }
  const transport = way === "SSE"
    ? new SSEClientTransport(new URL(`${base}/sse${query}`), { requestInit })
    : new StreamableHTTPClientTransport(new URL(`${base}${path}${query}`), { requestInit })
  const client = new Client({ name: "test", version: "1.0.0" }, { jsonSchemaValidator: outputValidators })
  // The SDK's transports predate `exactOptionalPropertyTypes`.
  await client.connect(transport as Transport)
  return client
}

export const callTool = async (client: Client, name: string, args: Readonly<Record<string, unknown>> = {}) =>
  CallToolResultSchema.parse(await client.callTool({ name, arguments: { ...args } }))

/** What a result carries: its value, or the envelope of a failure, which is text alone. */
export const textOf = ({ content, structuredContent }: CallToolResult): unknown => {
  if (structuredContent !== undefined) return structuredContent
  const [first] = content
  if (first?.type !== "text") throw new Error("the result has no text")
  return first.text === "Done" ? undefined : JSON.parse(first.text)
}
