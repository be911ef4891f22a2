/** Scopes of access tokens for hosted servers (contract: OAuth protection, 5). */
export const mcpScopes = ["mcp:read", "mcp:write", "mcp:execute"] as const

/** Asks for a refresh token; it is listed in metadata and left out of challenges (checklist, row 13). */
export const offlineAccess = "offline_access"

/** As a `scope` claim or parameter carries them (RFC 6749 §3.3). */
export const allMcpScopes = mcpScopes.join(" ")
export type McpScope = typeof mcpScopes[number]
