import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose"
import { describe, expect, it } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { newFlow } from "../../support/oauth.ts"

const berth = useBerth()

describe("RFC 9068: JWT access tokens", () => {
  it("§2, §4: carry the claims, are signed by a published key, and name one resource", async () => {
    const flow = await newFlow(berth)
    const { access_token } = await flow.tokens({ scope: "mcp:read offline_access" })
    const { body } = await berth.request<JSONWebKeySet>("GET", "/api/v1/oauth/jwks")
    const { payload } = await jwtVerify(access_token, createLocalJWKSet(body), {
      typ: "at+jwt",
      algorithms: ["ES256"],
      issuer: berth.url,
      audience: flow.server.publicUrl
    })
    expect(decodeProtectedHeader(access_token)).toEqual({ alg: "ES256", typ: "at+jwt", kid: body.keys[0]?.["kid"] })
    expect(payload).toEqual({
      iss: berth.url,
      sub: flow.user.id,
      aud: flow.server.publicUrl,
      client_id: flow.clientId,
      scope: "mcp:read offline_access",
      iat: expect.any(Number),
      exp: payload.iat! + 900,
      jti: expect.stringMatching(/^[0-9A-Z]{26}$/),
      fam: expect.stringMatching(/^fam_[0-9A-Z]{26}$/),
      srv: flow.server.id
    })
    const again = await flow.tokens()
    expect(again.access_token).not.toBe(access_token)
  })
})
