import { type Settings } from "#src/config/Settings.ts"
import { challengedScopes, mcpScopes, offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Target } from "#src/servers/locate.ts"
import { documentUrl } from "#src/shared/well-known.ts"

/** The URL of a request: clients compare `resource` with the URL that they were given (RFC 9728 §3.3). */
type Place = Pick<Target, "form" | "endpoint">

export const resourceAt = ({ resources }: Route, { endpoint, form }: Place) => resources[form] + endpoint

/**
 * The protected-resource document (RFC 9728 §2), of the server or of one of its endpoints, in the form that the client
 * used. Whichever a client names as `resource`, its token is for the server and valid at both. In byoa mode it contains
 * the customer's settings unchanged (contract: Hosted servers).
 */
export const resourceMetadata = ({ authUrl }: Settings, route: Route, place: Place) =>
  route.byoaConfig === null
    ? {
      resource: resourceAt(route, place),
      authorization_servers: [authUrl],
      scopes_supported: [...mcpScopes, offlineAccess],
      bearer_methods_supported: ["header"]
    }
    : {
      resource: resourceAt(route, place),
      authorization_servers: [route.byoaConfig.issuer],
      scopes_supported: [...mcpScopes, offlineAccess],
      jwks_uri: route.byoaConfig.jwksUri,
      authorization_endpoint: route.byoaConfig.authorizationEndpoint,
      token_endpoint: route.byoaConfig.tokenEndpoint,
      bearer_methods_supported: ["header"]
    }

/**
 * `WWW-Authenticate` of a 401 (RFC 9728 §5.1, RFC 6750 §3). Without credentials there is no `error`. Scopes are named
 * only for our own authorization server.
 */
export const challenge = (route: Route, place: Place, error?: string) =>
  [
    `Bearer resource_metadata="${documentUrl(resourceAt(route, place))}"`,
    ...(route.byoaConfig === null ? [`scope="${challengedScopes(mcpScopes)}"`] : []),
    ...(error === undefined ? [] : [`error="${error}"`])
  ].join(", ")
