import { exitCodeOf, exitCodes } from "#src/cli/exit-codes.ts"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js"
import { McpClientError } from "./McpClientError.ts"
import { oneLine, quoted } from "./render.ts"

/** The outcome of the last HTTP exchange, because the SDK reports failures differently for each transport. */
export interface Exchange {
  status?: number | undefined
  code?: string | undefined
  /** The sentence of its error envelope, or of a JSON-RPC error. */
  said?: string | undefined
  /** The code of its error envelope, such as `PLAN_LIMIT_REACHED`. */
  errorCode?: string | undefined
  /** The code of a JSON-RPC error. */
  rpcCode?: number | undefined
}

const longestSaid = 300
/** Of a refusal that may name several arguments, a line each. */
const longestRefusal = 1000

/** The sentence in a body that tells of an error; what is no such body has none. */
export const saidIn = (body: string): string | undefined => {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly message?: unknown } }
    const said = typeof error?.message === "string" ? oneLine(error.message) : ""
    if (said === "") return undefined
    return said.length > longestSaid ? `${said.slice(0, longestSaid - 1).toWellFormed()}…` : said
  } catch {
    return undefined
  }
}

/** The code in a body that is an error envelope of an installation. */
export const errorCodeIn = (body: string): string | undefined => {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly code?: unknown } }
    return typeof error?.code === "string" ? error.code : undefined
  } catch {
    return undefined
  }
}

/** The code in a body that is a JSON-RPC error. */
export const rpcCodeIn = (body: string): number | undefined => {
  try {
    const { error, jsonrpc } = JSON.parse(body) as { readonly jsonrpc?: unknown; readonly error?: { code?: unknown } }
    return jsonrpc === "2.0" && typeof error?.code === "number" ? error.code : undefined
  } catch {
    return undefined
  }
}

/** A composite's address (docs/hub.md, "As one MCP server") is right as a path: what is missing is the composite. */
const isComposite = (url: string) => /\/mcp\/composites\/[^/]+$/.test(new URL(url).pathname)

const statusMessage = (status: number, url: string, token: boolean, said: string | undefined): string => {
  const { host } = new URL(url)
  if (status === 401) {
    return token
      ? `${host} did not accept the token: it is wrong, expired, or meant for another server. Get a new one.`
      : `${host} asks for a token. Give one with --token or in BERTH_TOKEN; where a Berth hosts it, berth login is enough.`
  }
  const isPath = status === 405 || status === 404 && !isComposite(url)
  if (said !== undefined && !isPath) return `${host} answered with status ${status}: ${said.replace(/\.$/, "")}.`
  if (status === 403) return `${host} refused: the token does not allow this. Get one with the scope it needs.`
  if (status === 404) return `There is no MCP server at ${url}. Check the path: it usually ends in /mcp or /sse.`
  if (status === 405) return `${url} does not speak MCP. Check the path: it usually ends in /mcp or /sse.`
  if (status === 429) return `${host} says too many requests. Wait a little and try again.`
  if (status >= 500) return `${host} answered with status ${status}: the server failed or is not running.`
  return `${host} refused the request with status ${status}.`
}

const networkMessage = (code: string, url: string): string => {
  const { host } = new URL(url)
  if (code === "ECONNREFUSED") return `Nothing listens at ${host}. Is the server running, and is the port right?`
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `The host name of ${host} is not known. Check the spelling.`
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return `${host} did not answer in time. Try again.`
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return `The TLS certificate of ${host} is not valid (${code}).`
  return `The connection to ${host} failed (${code}). Check the address and try again.`
}

/** Turns any error of a call with the SDK into a sentence. */
export const describeFailure = (error: unknown, exchange: Exchange, url: string, token: boolean): McpClientError => {
  if (error instanceof McpClientError) return error
  const say = (message: string, code?: number) => new McpClientError({ message, code })
  const text = error instanceof Error ? error.message.replace(/^MCP error -?\d+: /, "") : ""
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) {
    return error.code === ErrorCode.RequestTimeout
      ? say(`${new URL(url).host} did not answer in time. Try again.`)
      : say(`The server refused: ${quoted(text.slice(0, longestRefusal))}`)
  }
  const status = error instanceof StreamableHTTPError && (error.code ?? 0) >= 400 ? error.code : exchange.status
  if (status !== undefined) {
    return say(
      statusMessage(status, url, token, exchange.said),
      exitCodeOf(status, exchange.errorCode)
    )
  }
  if (exchange.code !== undefined) return say(networkMessage(exchange.code, url), exitCodes.noAnswer)
  return say(`${url} did not answer as an MCP server does: ${oneLine(text).slice(0, 200)}`)
}
