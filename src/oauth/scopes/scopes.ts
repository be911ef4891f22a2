/** Scopes of access tokens for hosted servers (docs/security.md, "Scopes"). */
export const mcpScopes = ["mcp:read", "mcp:write", "mcp:execute"] as const

/** Asks for a refresh token; it is listed in metadata and left out of challenges. */
export const offlineAccess = "offline_access"

/** As a `scope` claim or parameter carries them (RFC 6749 §3.3). */
export const allMcpScopes = mcpScopes.join(" ")

/**
 * As a challenge carries them; order means nothing (RFC 6749 §3.3), but must not be the metadata's: a client may add
 * `offline_access`, and mcp-remote 0.15 takes what then reads just as the metadata's list for a default of its own and
 * asks for the challenge's scopes alone: without refresh tokens, unless it registered for them.
 */
export const challengedScopes = (scopes: ReadonlyArray<string>) => scopes.toReversed().join(" ")
export type McpScope = typeof mcpScopes[number]
