import { isUtf8 } from "node:buffer"
import { hasDoubtfulKeys } from "./doubtful-keys.ts"

export type RpcBody =
  | { readonly _tag: "Json"; readonly value: unknown }
  /** Not readable: what it does is unknown. */
  | { readonly _tag: "Opaque" }
  /** Another parser may read it differently. */
  | { readonly _tag: "Doubtful"; readonly reason: string }

export interface BodyHeaders {
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /**
   * `Mcp-Method`, `Mcp-Name` and `MCP-Protocol-Version` (MCP 2026-07-28): copies of the body's values, which never
   * replace them.
   */
  readonly method: string | undefined
  readonly name: string | undefined
  readonly revision: string | undefined
}

const opaque: RpcBody = { _tag: "Opaque" }
const doubtful = (reason: string): RpcBody => ({ _tag: "Doubtful", reason })

const isPlainJson = ({ contentEncoding, contentType = "" }: BodyHeaders) =>
  contentEncoding === undefined && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?;?$/i.test(contentType.trim())

/** A name that is not plain ASCII is sent as `=?base64?…?=` (MCP 2026-07-28, transports). */
const decodedName = (name: string) => {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(name)?.[1]
  return encoded === undefined ? name : Buffer.from(encoded, "base64").toString("utf8")
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

/** The parameter that `Mcp-Name` repeats (SEP-2243, Standard Request Headers; SEP-2663 for tasks). */
const named: ReadonlyMap<unknown, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const contradicts = (value: unknown, headers: BodyHeaders) => {
  const method = field(value, "method")
  const params = field(value, "params")
  if (headers.method !== undefined && headers.method !== method) return true
  const revision = field(field(params, "_meta"), "io.modelcontextprotocol/protocolVersion")
  if (headers.revision !== undefined && revision !== undefined && headers.revision !== revision) return true
  if (headers.name === undefined) return false
  // By another parameter that agrees, a server that goes by its headers would run what was not asked for.
  const parameter = named.get(method)
  const names = parameter === undefined ? ["name", "uri"] : [parameter]
  return !names.map((name) => field(params, name)).includes(decodedName(headers.name))
}

/** Reads a JSON-RPC body, if every parser reads it the same way; else says why not. */
export const readRpcBody = (bytes: Buffer, headers: BodyHeaders): RpcBody => {
  if (!isPlainJson(headers) || !isUtf8(bytes)) return opaque
  const text = bytes.toString("utf8")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return opaque
  }
  if (hasDoubtfulKeys(text)) return doubtful("The body has a key twice, or in another case")
  return contradicts(value, headers)
    ? doubtful("Mcp-Method, Mcp-Name or MCP-Protocol-Version says something else than the body")
    : { _tag: "Json", value }
}
