import { accountScope, type GrantedScope, Scope } from "#src/accounts/CurrentActor.ts"
import { type Settings } from "#src/config/Settings.ts"
import { isUlid } from "#src/shared/ids.ts"
import { Schema } from "effect"
import { mcpScopes, offlineAccess } from "./scopes.ts"

/** The paths of our own MCP endpoint, by transport. */
export const mcpEndpoints = ["mcp", "sse"] as const
export type McpEndpoint = typeof mcpEndpoints[number]

/**
 * The resource URLs of our own MCP endpoint: clients compare the resource with the URL they were given (RFC 9728 §3.3),
 * so the older transport's URL is a resource, too. A token for either is valid at both.
 */
export const platformResources = ({ baseUrl }: Pick<Settings, "baseUrl">): Readonly<Record<McpEndpoint, string>> => ({
  mcp: `${baseUrl}/mcp`,
  sse: `${baseUrl}/sse`
})

/** The resource URL of our HTTP API (docs/decisions/tokens-for-the-api.md). */
export const apiResource = ({ baseUrl }: Pick<Settings, "baseUrl">) => `${baseUrl}/v1`

/** The scopes that a client can be granted at either: those of platform keys, and `account`. */
export const platformScopes: ReadonlyArray<GrantedScope> = [...Scope.literals, accountScope]

const isPlatformScope = Schema.is(Schema.Literal(...Scope.literals, accountScope))

/** The platform scopes in a `scope` claim. */
export const grantedScopes = (scope: string): ReadonlySet<GrantedScope> =>
  new Set(scope.split(" ").filter(isPlatformScope))

/** The protected-resource document of our MCP endpoint or our API (RFC 9728 §2). */
export const platformResourceMetadata = (settings: Pick<Settings, "authUrl">, resource: string) => ({
  resource,
  authorization_servers: [settings.authUrl],
  scopes_supported: [...platformScopes, offlineAccess],
  bearer_methods_supported: ["header"],
  resource_name: "Berth"
})

/** The resource URL of a composite's MCP endpoint; undefined when the path is not one's. */
export const compositeResource = ({ baseUrl }: Pick<Settings, "baseUrl">, path: string): string | undefined => {
  const id = /^[^?#]*\/mcp\/composites\/([^/?#]+)\/?(?:[?#]|$)/.exec(path)?.[1]
  return id !== undefined && isUlid(id) ? `${baseUrl}/mcp/composites/${id}` : undefined
}

export const isCompositeResource = (url: string) => compositeResource({ baseUrl: "" }, url) !== undefined

/** The protected-resource document of a composite (RFC 9728 §2). Its scopes are those of hosted servers. */
export const compositeResourceMetadata = (settings: Pick<Settings, "authUrl">, resource: string) => ({
  resource,
  authorization_servers: [settings.authUrl],
  scopes_supported: [...mcpScopes, offlineAccess],
  bearer_methods_supported: ["header"],
  resource_name: "Berth composite"
})
