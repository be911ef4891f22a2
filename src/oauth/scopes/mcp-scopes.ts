import { type McpScope, mcpScopes } from "./scopes.ts"

/** The scopes that an MCP message needs (docs/security.md, "Scopes"). */
export type Need =
  /** Any one of these is enough; the first is the one to ask for. */
  | { readonly _tag: "OneOf"; readonly scopes: ReadonlyArray<McpScope> }
  /** `mcp:execute`; for a tool that is marked state-changing `mcp:write` is enough. */
  | { readonly _tag: "Tool"; readonly name: string }
  /** An unknown message may list, read and call: it needs every scope. */
  | { readonly _tag: "Everything" }

const oneOf = (...scopes: ReadonlyArray<McpScope>): Need => ({ _tag: "OneOf", scopes })
export const everything: Need = { _tag: "Everything" }
/** For messages that every conversation needs. */
export const anyScope = oneOf(...mcpScopes)
const read = oneOf("mcp:read")

/**
 * Methods of the revisions up to 2026-07-28, and of skills (SEP-2640). A task's scopes are checked when it starts, and not again when its result
 * is fetched.
 */
const methods: ReadonlyMap<string, Need> = new Map([
  ...["initialize", "ping", "server/discover", "logging/setLevel", "tasks/get", "tasks/result"]
    .map((method) => [method, anyScope] as const),
  ...["tools/list", "prompts/list", "prompts/get", "completion/complete", "tasks/list", "subscriptions/listen"]
    .map((method) => [method, read] as const),
  ...["list", "read", "templates/list", "directory/read", "subscribe", "unsubscribe"]
    .map((method) => [`resources/${method}`, read] as const),
  ...["skills/list", "skills/get"].map((method) => [method, read] as const),
  ...["cancel", "update"].map((method) => [`tasks/${method}`, oneOf("mcp:execute", "mcp:write")] as const)
])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const needOf = (message: unknown): Need => {
  if (!isRecord(message)) return everything
  const { method, params } = message
  if (method === undefined) return "result" in message || "error" in message ? anyScope : everything
  if (typeof method !== "string") return everything
  if (method === "tools/call") {
    return isRecord(params) && typeof params["name"] === "string" ? { _tag: "Tool", name: params["name"] } : everything
  }
  return methods.get(method) ?? (method.startsWith("notifications/") ? anyScope : everything)
}

/** What a JSON-RPC body needs: one message, or each message of a batch (2025-03-26). */
export const needsOf = (body: unknown): ReadonlyArray<Need> => {
  if (!Array.isArray(body)) return [needOf(body)]
  return body.length === 0 ? [everything] : body.map(needOf)
}

/** Where hosted servers speak MCP (docs/images.md), with or without a closing slash. */
const endpoint = /^\/(mcp|message|sse)\/?(?:\?|$)/

/**
 * The part of MCP that a request is, by its HTTP method and path (MCP, Transports): a message, or `conversation`, which
 * is the stream of a GET or the end of a session. Undefined for everything else: at other paths the same JSON, or the
 * same `Accept`, may do anything.
 */
export const partOfMcp = (
  method: string,
  path: string,
  accept: string | undefined
): "message" | "conversation" | undefined => {
  const name = endpoint.exec(path)?.[1]
  if (name === undefined) return undefined
  if (method === "POST") return "message"
  const opensStream = method === "GET" && name !== "message" && /text\/event-stream/i.test(accept ?? "")
  return opensStream || (method === "DELETE" && name === "mcp") ? "conversation" : undefined
}

/** The MCP scopes in a `scope` claim. */
export const mcpScopesIn = (scope: string): ReadonlySet<McpScope> => {
  const words = new Set(scope.split(" "))
  return new Set(mcpScopes.filter((one) => words.has(one)))
}

/** Whether a token allows everything, so that messages need no inspection. */
export const allowsEverything = (scope: string) => {
  const padded = ` ${scope} `
  return padded.includes(" mcp:read ") && padded.includes(" mcp:execute ")
}

const missingFor = (
  need: Need,
  granted: ReadonlySet<McpScope>,
  changes: ReadonlySet<string>
): ReadonlyArray<McpScope> => {
  switch (need._tag) {
    case "OneOf":
      return need.scopes.some((scope) => granted.has(scope)) ? [] : need.scopes.slice(0, 1)
    case "Tool":
      return granted.has("mcp:execute") || (granted.has("mcp:write") && changes.has(need.name)) ? [] : ["mcp:execute"]
    case "Everything":
      return (["mcp:read", "mcp:execute"] as const).filter((scope) => !granted.has(scope))
  }
}

/** The scopes that are missing, empty when the request may pass. `changes`: tools marked state-changing. */
export const missingScopes = (
  needs: ReadonlyArray<Need>,
  granted: ReadonlySet<McpScope>,
  changes: ReadonlySet<string>
): ReadonlySet<McpScope> => new Set(needs.flatMap((need) => missingFor(need, granted, changes)))

/** Tools whose mark decides whether the request may pass. */
export const toolsInDoubt = (needs: ReadonlyArray<Need>, granted: ReadonlySet<McpScope>): ReadonlySet<string> =>
  granted.has("mcp:execute") || !granted.has("mcp:write")
    ? new Set()
    : new Set(needs.flatMap((need) => need._tag === "Tool" ? [need.name] : []))

/**
 * The scopes to ask for where some are missing, as a challenge names them; undefined: the request may pass. Those of the
 * token are among them, so that a client that requests exactly these loses none.
 */
export const scopesToAsk = (missing: ReadonlySet<McpScope>, granted: ReadonlySet<McpScope>): string | undefined =>
  missing.size === 0 ? undefined : mcpScopes.filter((one) => missing.has(one) || granted.has(one)).join(" ")
