import { describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { newFlow, postForm } from "../support/oauth.ts"

const berth = useBerth()

/** PostgreSQL stores none of the first; the others are bytes and signs that few expect. */
const odd = ["%00", "a%00b", "%ed%a0%80", "%ff", "%1b%5b2J", "%e2%80%ae", "%f0%9f%92%a9"]

describe("text that the database does not take", () => {
  it("is refused by every endpoint of OAuth, in any parameter, and never fails on our side", async () => {
    const flow = await newFlow(berth)
    const forms: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
      ["/api/v1/oauth/token", await flow.codeRequest()],
      ["/api/v1/oauth/token", { grant_type: "refresh_token", refresh_token: "x", client_id: flow.clientId }],
      ["/api/v1/oauth/revoke", { token: "x", token_type_hint: "refresh_token", client_id: flow.clientId }],
      ["/api/v1/oauth/introspect", { token: "x" }]
    ]
    for (const [path, fields] of forms) {
      for (const name of Object.keys(fields)) {
        for (const text of odd) {
          const others = new URLSearchParams(Object.entries(fields).filter(([other]) => other !== name))
          const headers = { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": freshAddress() }
          const { status } = await berth.request("POST", path, { body: `${others}&${name}=${text}`, headers })
          expect(status < 500, `${path} ${name} ${text}`).toBe(true)
        }
      }
    }
  }, 60_000)

  it("is refused on the pages, in the address and in the forms", async () => {
    const flow = await newFlow(berth)
    const good = {
      response_type: "code",
      client_id: flow.clientId,
      redirect_uri: "https://client.example/callback",
      resource: flow.server.publicUrl,
      scope: "mcp:read",
      state: "s",
      code_challenge: flow.challenge,
      code_challenge_method: "S256"
    }
    for (const name of Object.keys(good)) {
      for (const text of odd) {
        const others = new URLSearchParams(Object.entries(good).filter(([other]) => other !== name))
        const path = `/api/v1/oauth/authorize?${others}&${name}=${text}`
        expect((await berth.request("GET", path)).status < 500, path).toBe(true)
      }
    }
    for (const name of ["email", "password", "name", "return_to"]) {
      for (const path of ["/oauth/sign-in", "/oauth/sign-up", "/v1/auth/login"]) {
        const { status } = await postForm(berth, path, { [name]: "a\u0000b" })
        expect(status < 500, `${path} ${name}`).toBe(true)
      }
    }
  }, 60_000)

  it("is refused in what a client registers", async () => {
    for (const text of ["\u0000", "a\u0000b", "\ud800", "\u001b[2J"]) {
      const texts = {
        client_name: text,
        scope: text,
        grant_types: [text],
        redirect_uris: [`https://a.example/${text}`]
      }
      for (const [name, value] of Object.entries({ ...texts, logo_uri: text, contacts: [text], [text]: text })) {
        const body = { redirect_uris: ["https://a.example/"], client_name: "x", [name]: value }
        const { status } = await berth.request("POST", "/api/v1/oauth/register", { body })
        expect(status < 500, `${name} ${text}`).toBe(true)
      }
    }
  })
})
