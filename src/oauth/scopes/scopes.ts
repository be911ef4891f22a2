/** Scopes of access tokens for hosted servers (docs/security.md, "Scopes"). */
export const mcpScopes = ["mcp:read", "mcp:write", "mcp:execute"] as const

/** Requests a refresh token; listed in metadata, left out of challenges. */
export const offlineAccess = "offline_access"

/** As a `scope` claim or parameter carries them (RFC 6749 §3.3). */
export const allMcpScopes = mcpScopes.join(" ")

/**
 * As a challenge carries them. The order has no meaning (RFC 6749 §3.3), but must differ from the metadata's:
 * mcp-remote 0.15 takes a list that equals the metadata's, after adding `offline_access`, for a default of its own, and
 * then requests the challenge's scopes alone: without refresh tokens, unless it registered for them.
 */
export const challengedScopes = (scopes: ReadonlyArray<string>) => scopes.toReversed().join(" ")
export type McpScope = typeof mcpScopes[number]
