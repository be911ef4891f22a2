import { type Settings } from "#src/Config.ts"
import { challengedScopes, mcpScopes, offlineAccess } from "#src/oauth/scopes.ts"
import { type Form, wellKnown } from "./address.ts"
import { type Route } from "./Route.ts"

/** RFC 9728 §3.1: the well-known path goes between the host and the path of the resource. */
export const documentUrl = (resource: string) => {
  const { origin, pathname } = new URL(resource)
  return `${origin}${wellKnown}${pathname === "/" ? "" : pathname}`
}

/**
 * The protected-resource document (RFC 9728 §2). `resource` is the server's URL in the form the client used, also
 * below `/sse` and `/mcp`: what a token is for is the server, not one of its endpoints. In byoa mode the customer's
 * settings stand in it to the letter (contract: OAuth protection, 7).
 */
export const resourceMetadata = ({ authUrl }: Settings, { byoaConfig, resources }: Route, form: Form) =>
  byoaConfig === null
    ? {
      resource: resources[form],
      authorization_servers: [authUrl],
      scopes_supported: [...mcpScopes, offlineAccess],
      bearer_methods_supported: ["header"]
    }
    : {
      resource: resources[form],
      authorization_servers: [byoaConfig.issuer],
      jwks_uri: byoaConfig.jwksUri,
      authorization_endpoint: byoaConfig.authorizationEndpoint,
      token_endpoint: byoaConfig.tokenEndpoint,
      bearer_methods_supported: ["header"]
    }

/**
 * `WWW-Authenticate` of a 401 (RFC 9728 §5.1, RFC 6750 §3). Without credentials there is no `error`. The scopes are
 * ours to name only where our own authorization server is asked.
 */
export const challenge = ({ byoaConfig, resources }: Route, form: Form, error?: string) =>
  [
    `Bearer resource_metadata="${documentUrl(resources[form])}"`,
    ...(byoaConfig === null ? [`scope="${challengedScopes(mcpScopes)}"`] : []),
    ...(error === undefined ? [] : [`error="${error}"`])
  ].join(", ")

/**
 * `WWW-Authenticate` of a 403 for too little scope (RFC 6750 §3.1; checklist, row 14): the scopes needed and those the
 * token has, so that a client that asks for just these loses nothing.
 */
export const scopeChallenge = ({ resources }: Route, form: Form, scopes: string) =>
  `Bearer error="insufficient_scope", scope="${scopes}", resource_metadata="${documentUrl(resources[form])}"`
