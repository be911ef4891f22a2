import { describe, expect, it } from "vitest"
import { Berth, useBerth } from "../../support/Berth.ts"

const berth = useBerth()

const get = (path: string, on = berth) =>
  on.request<Record<string, unknown>>("GET", path, { headers: { origin: "https://app.example" } })

describe("[1] RFC 8414: authorization server metadata", () => {
  it("is at the well-known URL, and its issuer is the base it was found at, to the byte", async () => {
    for (const name of ["oauth-authorization-server", "openid-configuration"]) {
      const { body, headers, status } = await get(`/.well-known/${name}`)
      expect([status, body["issuer"]]).toEqual([200, berth.url])
      expect(headers.get("content-type")).toMatch(/^application\/json/)
      expect(headers.get("access-control-allow-origin")).toBe("*")
    }
  })

  it("[2] says what there is: S256, no secrets, iss, metadata documents", async () => {
    const { body } = await get("/.well-known/oauth-authorization-server")
    const at = (name: string) => `${berth.url}/api/v1/oauth/${name}`
    expect(body).toMatchObject({
      authorization_endpoint: at("authorize"),
      token_endpoint: at("token"),
      registration_endpoint: at("register"),
      revocation_endpoint: at("revoke"),
      introspection_endpoint: at("introspect"),
      jwks_uri: at("jwks"),
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:token-exchange"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true
    })
    expect(body["scopes_supported"]).toEqual(
      expect.arrayContaining(["mcp:read", "mcp:write", "mcp:execute", "offline_access", "servers:read", "account"])
    )
  })

  it("can be read by a page of any origin, its keys too", async () => {
    for (const path of ["/.well-known/oauth-authorization-server", "/api/v1/oauth/jwks"]) {
      const preflight = await berth.request("OPTIONS", path, {
        headers: {
          origin: "https://app.example",
          "access-control-request-method": "GET",
          "access-control-request-headers": "mcp-protocol-version"
        }
      })
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")], path).toEqual([204, "*"])
      expect(preflight.headers.get("access-control-allow-headers")).toMatch(/mcp-protocol-version/i)
    }
    const jwks = await get("/api/v1/oauth/jwks")
    expect([jwks.status, jwks.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
    expect(jwks.body["keys"]).toEqual([expect.objectContaining({ kty: "EC", alg: "ES256" })])
    expect(jwks.text).not.toContain("\"d\"")
  })

  it("of an issuer with a path is there at the path inserted and appended", async () => {
    const other = await new Berth().start({ variables: { AUTH_URL: "https://auth.example/tenant" } })
    try {
      const paths = [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server"
      ]
      for (const path of paths) {
        expect((await get(path, other)).body, path).toMatchObject({
          issuer: "https://auth.example/tenant",
          token_endpoint: "https://auth.example/tenant/api/v1/oauth/token"
        })
      }
    } finally {
      await other.stop()
    }
  })
})
