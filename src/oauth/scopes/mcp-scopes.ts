import { type McpScope, mcpScopes } from "./scopes.ts"

/** What of MCP a message wants to do, in terms of scopes (docs/security.md, "Scopes"). */
export type Need =
  /** Any one of these is enough; the first is the one to ask for. */
  | { readonly _tag: "OneOf"; readonly scopes: ReadonlyArray<McpScope> }
  /** `mcp:execute`; for a tool that is marked state-changing `mcp:write` is enough. */
  | { readonly _tag: "Tool"; readonly name: string }
  /** What we can't tell may list, read and call: it takes all that a token can allow. */
  | { readonly _tag: "Everything" }

const oneOf = (...scopes: ReadonlyArray<McpScope>): Need => ({ _tag: "OneOf", scopes })
export const everything: Need = { _tag: "Everything" }
/** Belongs to every conversation. */
export const anyScope = oneOf(...mcpScopes)
const read = oneOf("mcp:read")

/**
 * Methods of the revisions up to 2026-07-28. What a task was started for was allowed when it was started; fetching its
 * result is not asked again.
 */
const methods: ReadonlyMap<string, Need> = new Map([
  ...["initialize", "ping", "server/discover", "logging/setLevel", "tasks/get", "tasks/result"]
    .map((method) => [method, anyScope] as const),
  ...["tools/list", "prompts/list", "prompts/get", "completion/complete", "tasks/list", "subscriptions/listen"]
    .map((method) => [method, read] as const),
  ...["list", "read", "templates/list", "subscribe", "unsubscribe"]
    .map((method) => [`resources/${method}`, read] as const),
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

/** What a JSON-RPC body needs: one message, or a batch of them (2025-03-26), each of which counts. */
export const needsOf = (body: unknown): ReadonlyArray<Need> => {
  if (!Array.isArray(body)) return [needOf(body)]
  return body.length === 0 ? [everything] : body.map(needOf)
}

/** Where hosted servers speak MCP (docs/images.md); a closing slash makes no other address. */
const endpoint = /^\/(mcp|message|sse)\/?(?:\?|$)/

/**
 * What of MCP a request can be, by its HTTP method and address (MCP, Transports): a message, or what belongs to the
 * conversation without one, which is the stream of a GET and the end of a session. Undefined is everything else: the
 * same JSON, or the same `Accept`, may do anything there.
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

/** The scopes of ours in a `scope` claim. */
export const mcpScopesIn = (scope: string): ReadonlySet<McpScope> => {
  const words = new Set(scope.split(" "))
  return new Set(mcpScopes.filter((one) => words.has(one)))
}

/** Whether a token may do anything, so that nobody needs to look at what it is used for. */
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

/** The scopes that are missing for all of it, none when it may pass. `changes`: tools marked state-changing. */
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
