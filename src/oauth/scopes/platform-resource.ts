import { accountScope, type GrantedScope, Scope } from "#src/accounts/CurrentActor.ts"
import { type Settings } from "#src/config/Settings.ts"
import { Schema } from "effect"
import { offlineAccess } from "./scopes.ts"

/** The addresses of our own MCP door that a client can be pointed at. */
export const doors = ["mcp", "sse"] as const
export type Door = typeof doors[number]

/**
 * The resources that our own MCP door is, by address: clients compare the resource with the URL they were given
 * (RFC 9728 §3.3), so the older transport's address is one too. A token for either is good at the door.
 */
export const platformResources = ({ baseUrl }: Pick<Settings, "baseUrl">): Readonly<Record<Door, string>> => ({
  mcp: `${baseUrl}/mcp`,
  sse: `${baseUrl}/sse`
})

/** What a client can be granted there: the scopes of platform keys, and `account`. */
export const platformScopes: ReadonlyArray<GrantedScope> = [...Scope.literals, accountScope]

const isPlatformScope = Schema.is(Schema.Literal(...Scope.literals, accountScope))

/** The scopes of a `scope` claim that count on the platform. */
export const grantedScopes = (scope: string): ReadonlySet<GrantedScope> =>
  new Set(scope.split(" ").filter(isPlatformScope))

/** The protected-resource document of the door (RFC 9728 §2). */
export const platformResourceMetadata = (settings: Pick<Settings, "authUrl" | "baseUrl">, door: Door) => ({
  resource: platformResources(settings)[door],
  authorization_servers: [settings.authUrl],
  scopes_supported: [...platformScopes, offlineAccess],
  bearer_methods_supported: ["header"],
  resource_name: "Berth"
})
