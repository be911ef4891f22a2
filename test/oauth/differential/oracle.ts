import { once } from "node:events"
import { createServer } from "node:http"
import Provider, { type Context, errors } from "oidc-provider"
import { freePort } from "../../support/http.ts"

const accountId = "user"
const mcpScope = "mcp:read mcp:write mcp:execute"

/** The static client that asks about tokens: there introspection is a client's, here a hosted server's. */
export const introspector = { client_id: "introspector", client_secret: "introspector-secret" }

/**
 * oidc-provider with what the two have in common: public clients that register themselves, PKCE, resource indicators,
 * rotation, revocation, introspection. A user is signed in and agrees to everything, so that a request in order is
 * answered with a code at once. `resources` are those it knows.
 */
export const startOracle = async (resources: ReadonlyArray<string>) => {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [{
      ...introspector,
      redirect_uris: [],
      response_types: [],
      grant_types: [],
      token_endpoint_auth_method: "client_secret_basic"
    }],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    responseTypes: ["code"],
    scopes: ["offline_access"],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: (_context: Context, client: Context["oidc"]["client"]) =>
      client.grantTypeAllowed("refresh_token"),
    allowOmittingSingleRegisteredRedirectUri: false,
    interactions: { policy: [], url: () => "/none" },
    cookies: { keys: ["differential"] },
    findAccount: () => ({ accountId, claims: () => ({ sub: accountId }) }),
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId })
      for (const resource of resources) grant.addResourceScope(resource, mcpScope)
      grant.addOIDCScope("offline_access")
      await grant.save()
      return grant
    },
    ttl: { AuthorizationCode: 300, AccessToken: 900, RefreshToken: 30 * 86_400, Grant: 60 * 86_400, Session: 86_400 },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: Context, resource: string) => {
          if (!resources.includes(resource)) throw new errors.InvalidTarget()
          return { scope: mcpScope, audience: resource, accessTokenTTL: 900, accessTokenFormat: "opaque" }
        }
      }
    }
  })
  const get = provider.Session.get.bind(provider.Session)
  provider.Session.get = async (context) => Object.assign(await get(context), { accountId, loginTs: 1 })
  const server = createServer(provider.callback()).listen(port, "127.0.0.1")
  await once(server, "listening")
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { issuer, stop }
}
