import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { type Flow, newFlow, type OAuthErrorBody, postForm, redirectUri } from "../../support/oauth.ts"
import { returnLink } from "../../support/pages.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

const describes = expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/) as unknown
const failure = (error: string) => ({ error, error_description: describes })

describe("RFC 6749: the token endpoint", () => {
  it("§5.1 answers with no-store and what the RFC lists", async () => {
    const { body, headers, status } = await flow.token(await flow.codeRequest())
    expect([status, body]).toEqual([200, {
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 900,
      refresh_token: expect.any(String),
      scope: "mcp:read mcp:write mcp:execute offline_access"
    }])
    expect([headers.get("cache-control"), headers.get("pragma")]).toEqual(["no-store", "no-cache"])
    expect(headers.get("content-type")).toMatch(/^application\/json/)
    expect(headers.get("x-ratelimit-limit")).toMatch(/^\d+$/)
  })

  it("§5.2 refuses with an error, a description, no-store and the right status", async () => {
    const request = await flow.codeRequest()
    const wrong: ReadonlyArray<readonly [Readonly<Record<string, string>>, number, string]> = [
      [{ grant_type: "password" }, 400, "unsupported_grant_type"],
      [{ grant_type: "" }, 400, "invalid_request"],
      [{ code: "unknown" }, 400, "invalid_grant"],
      [{ client_id: "unknown", code: "unknown" }, 401, "invalid_client"],
      [{ code_verifier: "a".repeat(43) }, 400, "invalid_grant"],
      [{ resource: "https://elsewhere.example" }, 400, "invalid_target"],
      [{ redirect_uri: "https://elsewhere.example" }, 400, "invalid_grant"],
      [{ client_secret: "s" }, 401, "invalid_client"]
    ]
    for (const [fields, status, error] of wrong) {
      const answer = await flow.token<OAuthErrorBody>({ ...request, ...fields })
      expect([answer.status, answer.body], JSON.stringify(fields)).toEqual([status, failure(error)])
      expect(answer.headers.get("cache-control")).toBe("no-store")
    }
    expect((await flow.token(request)).status).toBe(200)
  })

  it("§5.2 answers a client that authenticates by header with 401 in that scheme", async () => {
    const basic = `Basic ${Buffer.from("client:secret").toString("base64")}`
    const answer = await flow.token<OAuthErrorBody>({ grant_type: "refresh_token" }, {
      headers: { authorization: basic }
    })
    expect([answer.status, answer.body]).toEqual([401, failure("invalid_client")])
    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic /)
  })

  it("§3.2 takes forms and nothing else, in RFC 6749's words", async () => {
    for (const path of ["token", "revoke", "introspect"].map((name) => `/api/v1/oauth/${name}`)) {
      const json = await berth.request("POST", path, { body: { grant_type: "refresh_token" } })
      expect([json.status, json.body], path).toEqual([400, failure("invalid_request")])
      const large = await postForm(berth, path, { token: "x".repeat(70_000) })
      expect([large.status, large.body], path).toEqual([413, failure("invalid_request")])
      const bytes = await berth.request("POST", path, {
        body: Uint8Array.from([0xff, 0xfe]),
        headers: { "content-type": "application/x-www-form-urlencoded", "content-length": "2" }
      })
      expect([bytes.status, bytes.body], path).toEqual([400, failure("invalid_request")])
      const other = await berth.request("GET", path)
      expect([other.status, other.body], path).toEqual([405, failure("invalid_request")])
      expect(other.headers.get("allow")).toBe("POST, OPTIONS")
    }
    const empty = await berth.request("POST", "/api/v1/oauth/token")
    expect([empty.status, empty.body]).toEqual([400, failure("invalid_request")])
  })

  it("takes any hostile form without breaking", async () => {
    const hostile = [
      "%",
      "%00=%00",
      "client_id=%00&grant_type=refresh_token&refresh_token=%00",
      "&&&=&=",
      "a=b".repeat(9000)
    ]
    const more = [
      "grant_type=refresh_token&client_id=client_01ARZ3NDEKTSV4RRFFQ69G5FAV&refresh_token=%ED%A0%80",
      "grant_type=authorization_code&client_id=x&code=%F0%9F%92%A5&redirect_uri=%0d%0a&code_verifier=%22",
      "__proto__=x&constructor=y&grant_type=__proto__"
    ]
    for (const body of [...hostile, ...more]) {
      const answer = await berth.request<OAuthErrorBody>("POST", "/api/v1/oauth/token", {
        body,
        headers: { "content-type": "application/x-www-form-urlencoded" }
      })
      expect([400, 401].includes(answer.status), body.slice(0, 40)).toBe(true)
      expect(answer.body).toEqual(failure(answer.body.error))
    }
  })

  it("counts towards the rate limit, and refuses beyond it in words a client can read", async () => {
    const headers = { "x-forwarded-for": "203.0.113.77", origin: "https://app.example" }
    let last = await flow.token({ grant_type: "x" }, { headers })
    for (let n = 0; n < 101 && last.status !== 429; n++) last = await flow.token({ grant_type: "x" }, { headers })
    expect([last.status, last.body]).toEqual([429, failure("temporarily_unavailable")])
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(last.headers.get("access-control-allow-origin")).toBe("*")
  })

  it("answers pages of any origin, without looking at cookies", async () => {
    const origin = "https://app.example"
    for (const name of ["token", "register", "revoke"]) {
      const preflight = await berth.request("OPTIONS", `/api/v1/oauth/${name}`, {
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" }
      })
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")], name).toEqual([204, "*"])
      expect(preflight.headers.get("access-control-allow-credentials")).toBeNull()
    }
    const headers = { origin, cookie: `svc_session=${flow.user.token}`, "sec-fetch-site": "cross-site" }
    const answer = await flow.token(await flow.codeRequest(), { headers })
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
  })
})

describe("RFC 6749: the authorization endpoint", () => {
  it("§4.1.2 sends the code back by 303", async () => {
    const url = await flow.authorize()
    expect(url.origin + url.pathname).toBe(redirectUri)
    expect([...url.searchParams.keys()]).toEqual(["code", "state", "iss"])
  })

  it("§4.1.2.1 shows what concerns the client or its redirect, and redirects the rest for who consented", async () => {
    await flow.authorize()
    const ask = (fields: Readonly<Record<string, string>>, cookie = `svc_session=${flow.user.token}`) =>
      berth.request(
        "GET",
        `/api/v1/oauth/authorize?${new URLSearchParams({
          client_id: flow.clientId,
          redirect_uri: redirectUri,
          resource: flow.server.publicUrl,
          state: "s",
          code_challenge: flow.challenge,
          code_challenge_method: "S256",
          ...fields
        })}`,
        { headers: { cookie } }
      )
    for (const fields of [{ client_id: "unknown" }, { redirect_uri: "https://evil.example/" }]) {
      const page = await ask(fields)
      expect([page.status, page.headers.get("location")]).toEqual([400, null])
      expect(page.headers.get("content-type")).toMatch(/^text\/html/)
      expect(page.headers.get("cache-control")).toMatch(/no-store/)
      expect(page.headers.get("access-control-allow-origin")).toBeNull()
    }
    for (
      const [fields, error] of [
        [{ response_type: "token" }, "unsupported_response_type"],
        [{ scope: "nothing" }, "invalid_scope"]
      ] as const
    ) {
      const { headers, status } = await ask(fields)
      const url = new URL(headers.get("location")!)
      expect([status, url.origin + url.pathname]).toEqual([303, redirectUri])
      const told = { ...failure(error), state: "s", iss: berth.url }
      expect(Object.fromEntries(url.searchParams)).toEqual(told)
      // RFC 9700 §4.11.2: nobody is sent to a client by a link alone.
      const page = await ask(fields, "")
      expect([page.status, page.headers.get("location")]).toEqual([400, null])
      expect(Object.fromEntries(returnLink(page.text)?.searchParams ?? [])).toEqual(told)
    }
  })

  it("§4.1.1 takes the contract's query, which has no response_type", async () => {
    const { headers, status } = await berth.request(
      "GET",
      `/api/v1/oauth/authorize?${new URLSearchParams({
        client_id: flow.clientId,
        code_challenge: flow.challenge,
        code_challenge_method: "S256",
        redirect_uri: redirectUri,
        scope: "mcp:read",
        resource: flow.server.publicUrl,
        state: "s"
      })}`
    )
    expect([status, headers.get("location")]).toEqual([303, expect.stringMatching(/^\/oauth\/sign-in/)])
  })
})

describe("RFC 6749 §6: refreshing", () => {
  it("[9] gives the same successor within a minute, and ends the family after", async () => {
    const { refresh_token } = await flow.tokens()
    const [one, two] = await Promise.all([flow.refresh(refresh_token), flow.refresh(refresh_token)])
    expect([one.status, one.body.refresh_token]).toEqual([200, two.body.refresh_token])
    expect(one.headers.get("cache-control")).toBe("no-store")
    berth.advance(61_000)
    expect((await flow.refresh(refresh_token)).body).toEqual(failure("invalid_grant"))
    expect((await flow.refresh(one.body.refresh_token)).body).toEqual(failure("invalid_grant"))
  })

  it("[9] ends the family at once when the successor was used before", async () => {
    const { refresh_token } = await flow.tokens()
    const one = await flow.refresh(refresh_token)
    const two = await flow.refresh(one.body.refresh_token)
    expect((await flow.refresh(refresh_token)).body).toEqual(failure("invalid_grant"))
    expect((await flow.refresh(two.body.refresh_token)).body).toEqual(failure("invalid_grant"))
  })

  it("is not for a client that was not granted offline_access", async () => {
    expect(await flow.tokens({ scope: "mcp:read" })).not.toHaveProperty("refresh_token")
  })
})
