import { type Settings } from "#src/config/Settings.ts"
import { platformScopes } from "#src/oauth/scopes/platform-resource.ts"
import { mcpScopes, offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { tokenExchange } from "./exchange-names.ts"

/** Paths of the endpoints, below the issuer. */
export const oauthPaths = {
  authorize: "/api/v1/oauth/authorize",
  token: "/api/v1/oauth/token",
  register: "/api/v1/oauth/register",
  revoke: "/api/v1/oauth/revoke",
  introspect: "/api/v1/oauth/introspect",
  jwks: "/api/v1/oauth/jwks"
} as const

/** The authorization server's metadata (RFC 8414 §2; RFC 9207 §3; RFC 7009, 7662, 7591 and 7636). */
export const serverMetadata = ({ authUrl, baseUrl }: Pick<Settings, "authUrl" | "baseUrl">) => ({
  issuer: authUrl,
  authorization_endpoint: authUrl + oauthPaths.authorize,
  token_endpoint: authUrl + oauthPaths.token,
  registration_endpoint: authUrl + oauthPaths.register,
  revocation_endpoint: authUrl + oauthPaths.revoke,
  introspection_endpoint: authUrl + oauthPaths.introspect,
  jwks_uri: authUrl + oauthPaths.jwks,
  scopes_supported: [...mcpScopes, ...platformScopes, offlineAccess],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token", tokenExchange],
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  introspection_endpoint_auth_methods_supported: ["Bearer"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  service_documentation: `${baseUrl}/docs`
})

/**
 * The same as an OpenID Connect document, with the fields that its clients require (Discovery §3). There are no id
 * tokens: a client that asks for one gets none.
 */
export const openidMetadata = (settings: Pick<Settings, "authUrl" | "baseUrl">) => ({
  ...serverMetadata(settings),
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["ES256"],
  // The default would be true.
  request_uri_parameter_supported: false
})

/** The paths of both documents: at the root, and for an issuer with a path inserted (RFC 8414 §3.1) or appended. */
export const metadataPaths = (issuer: string) => {
  const path = new URL(issuer).pathname.replace(/\/$/, "")
  const forms = (name: string) =>
    path === "" ? [`/.well-known/${name}`] : [`/.well-known/${name}${path}`, `${path}/.well-known/${name}`]
  return {
    server: [...new Set(["/.well-known/oauth-authorization-server", ...forms("oauth-authorization-server")])],
    openid: [...new Set(["/.well-known/openid-configuration", ...forms("openid-configuration")])]
  }
}
