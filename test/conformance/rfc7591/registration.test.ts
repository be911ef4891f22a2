import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { freshAddress } from "../../support/http.ts"

const berth = useBerth()
const path = "/api/v1/oauth/register"

interface Registered {
  readonly client_id: string
  readonly client_id_issued_at: number
}
interface Refused {
  readonly error: string
  readonly error_description: string
}

const register = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  berth.request<Registered & Refused & Readonly<Record<string, unknown>>>("POST", path, { body, headers })
const editor = {
  client_name: "Editor",
  redirect_uris: ["http://localhost/callback", "cursor://anysphere.cursor-mcp/oauth/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  scope: "mcp:read offline_access",
  client_uri: "https://editor.example",
  software_id: "x",
  unheard_of: { a: 1 }
}

describe("RFC 7591 §3.2.1: a registration", () => {
  let answer: Awaited<ReturnType<typeof register>>
  beforeAll(async () => {
    answer = await register(editor)
  })

  it("is answered with 201, JSON and no-store", () => {
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")])
      .toEqual([201, "application/json", "no-store"])
  })

  it("gives an id, the time it was made in seconds, and all metadata that was registered (§2)", () => {
    expect(answer.body).toEqual({
      client_id: expect.stringMatching(/^client_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      client_id_issued_at: expect.any(Number),
      client_name: "Editor",
      redirect_uris: editor.redirect_uris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "mcp:read offline_access"
    })
    expect(Math.abs(answer.body.client_id_issued_at - Date.now() / 1000)).toBeLessThan(60)
  })

  it("gives no secret, whatever method was asked for (§2: another value may take its place)", async () => {
    for (const method of ["client_secret_basic", "client_secret_post", undefined]) {
      const { body, status } = await register({ ...editor, token_endpoint_auth_method: method })
      expect([status, body["token_endpoint_auth_method"]]).toEqual([201, "none"])
      for (const name of ["client_secret", "client_secret_expires_at"]) expect(body).not.toHaveProperty(name)
    }
  })

  it("with defaults for what is left out: the code grant and response type (§2)", async () => {
    const { body } = await register({ redirect_uris: ["https://client.example/callback"] })
    expect(body).toMatchObject({ grant_types: ["authorization_code"], response_types: ["code"] })
  })

  it("makes a new client each time, so that nobody takes over another's (§5)", async () => {
    const ids = await Promise.all([editor, editor, editor].map(async (body) => (await register(body)).body.client_id))
    expect(new Set(ids).size).toBe(3)
  })

  it("never makes an id that looks like a URL, even when the client proposes one [row 11]", async () => {
    const { body } = await register({ ...editor, client_id: "https://victim.example/metadata.json" })
    expect(body.client_id).toMatch(/^client_/)
  })
})

describe("RFC 7591 §3.2.2: a refused registration", () => {
  const code = async (body: unknown) => {
    const answer = await register(body)
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(Object.keys(answer.body).sort()).toEqual(["error", "error_description"])
    expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    return [answer.status, answer.body.error]
  }

  it.each([
    "javascript:alert(document.cookie)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "http://client.example/callback",
    "http://localhost.evil.example/callback",
    "https://client.example/#fragment",
    "not a uri",
    ""
  ])("is invalid_redirect_uri for %s [row 11]", async (uri) => {
    expect(await code({ redirect_uris: ["https://client.example/callback", uri] })).toEqual([
      400,
      "invalid_redirect_uri"
    ])
  })

  it("is invalid_redirect_uri without any", async () => {
    for (const body of [{}, { redirect_uris: [] }, { redirect_uris: null }, { redirect_uris: "https://a.example/" }]) {
      expect(await code(body)).toEqual([400, "invalid_redirect_uri"])
    }
  })

  it("is invalid_client_metadata for the rest: values we don't have, no object, no JSON", async () => {
    for (
      const body of [
        { ...editor, grant_types: ["client_credentials"] },
        { ...editor, response_types: ["token"] },
        { ...editor, token_endpoint_auth_method: "private_key_jwt" },
        { ...editor, client_name: ["x"] },
        { ...editor, client_name: "\u202erotidE \u0000\ud800" },
        { ...editor, jwks: {}, jwks_uri: "https://client.example/jwks" },
        [],
        null,
        "null",
        "{",
        "",
        undefined
      ]
    ) expect(await code(body), JSON.stringify(body)).toEqual([400, "invalid_client_metadata"])
  })

  it("is 429 with Retry-After when one address has registered too many", async () => {
    const headers = { "x-forwarded-for": freshAddress() }
    for (let n = 0; n < 60; n++) expect((await register(editor, headers)).status).toBe(201)
    const answer = await register(editor, headers)
    expect([answer.status, answer.body.error]).toEqual([429, "temporarily_unavailable"])
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3000)
    expect((await register(editor)).status).toBe(201)
  })
})

describe("a page of another origin", () => {
  const page = { "origin": "https://inspector.example" }

  it("may register, and read what comes of it", async () => {
    const preflight = await berth.request("OPTIONS", path, {
      headers: {
        ...page,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,mcp-protocol-version"
      }
    })
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"])
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("mcp-protocol-version")
    for (const body of [editor, {}]) {
      expect((await register(body, page)).headers.get("access-control-allow-origin")).toBe("*")
    }
  })
})
