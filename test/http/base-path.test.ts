import { withoutBasePath } from "#http/front/base-path.ts"
import { type Settings } from "#src/config/Settings.ts"
import { describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"

describe("addresses of ours with a path", () => {
  const own = withoutBasePath({
    baseUrl: "https://x.example/berth",
    hubUrl: "https://x.example",
    authUrl: "https://x.example/berth/auth"
  } as Settings)

  it("are taken off whole, the longest first, and nothing else is", () => {
    const targets = [
      "/berth/v1/health",
      "/berth",
      "/berth?x=1",
      "/berth/auth/jwks",
      "/berthold",
      "/v1/x",
      "/berth//a",
      "*"
    ]
    expect(targets.map(own)).toEqual(["/v1/health", "/", "/?x=1", "/jwks", "/berthold", "/v1/x", "//a", "*"])
  })

  const variables: Record<string, string> = { AUTH_URL: "http://localhost:1/tenant/a" }
  const berth = useBerth({ variables })

  it("answer below it, the endpoints of the authorization server too", async () => {
    const { body } = await berth.request<{ issuer: string; jwks_uri: string; token_endpoint: string }>(
      "GET",
      "/.well-known/oauth-authorization-server/tenant/a"
    )
    expect(body.issuer).toBe("http://localhost:1/tenant/a")
    expect((await berth.request("GET", new URL(body.jwks_uri).pathname)).status).toBe(200)
    expect((await berth.request("POST", new URL(body.token_endpoint).pathname)).status).toBe(400)
    expect((await berth.request("GET", "/v1/health")).status).toBe(200)
  })
})
