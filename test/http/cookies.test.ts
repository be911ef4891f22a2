import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"

const berth = useBerth({ variables: { ALLOWED_ORIGINS: "https://console.example.com" } })
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp()
})

const create = (headers: Readonly<Record<string, string>>) =>
  berth.request("POST", "/v1/projects", {
    body: { name: "x" },
    headers: { cookie: `svc_session=${owner.token}`, ...headers }
  })

describe("a session cookie", () => {
  it("reads without an Origin", async () => {
    const headers = { cookie: `theme=dark; svc_session=${owner.token}; x=y` }
    expect((await berth.request("GET", "/v1/auth/me", { headers })).status).toBe(200)
    expect((await berth.request("HEAD", "/v1/auth/me", { headers })).status).toBe(200)
  })

  it("changes only from a page of ours or one the operator listed", async () => {
    const mine: ReadonlyArray<Readonly<Record<string, string>>> = [
      { origin: berth.url },
      { origin: "https://console.example.com" },
      { "sec-fetch-site": "same-origin" }
    ]
    for (const headers of mine) expect((await create(headers)).status, JSON.stringify(headers)).toBe(201)
    const port = new URL(berth.url).port
    const foreign: ReadonlyArray<Readonly<Record<string, string>>> = [
      {},
      { origin: "null" },
      { origin: "" },
      { origin: "https://evil.example" },
      { origin: `${berth.url}.evil.example` },
      { origin: `${berth.url}/` },
      { origin: `http://localhost:${port}` },
      { origin: berth.url.replace("http:", "https:") },
      { origin: "http://console.example.com" },
      { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
      { referer: `${berth.url}/` }
    ]
    for (const headers of foreign) {
      const answer = await create(headers)
      expect([answer.status, answer.body], JSON.stringify(headers)).toEqual([403, failure("FORBIDDEN")])
    }
  })

  it("of a page of elsewhere changes nothing by any method or door", async () => {
    const project = await owner.project()
    const headers = { cookie: `svc_session=${owner.token}`, origin: "https://evil.example" }
    const tries: ReadonlyArray<readonly [string, string]> = [
      ["PATCH", `/v1/projects/${project.id}`],
      ["DELETE", `/v1/projects/${project.id}`],
      ["POST", `/v1/projects/${project.id}/servers`],
      ["POST", `/v1/projects/${project.id}/keys`],
      ["POST", "/v1/auth/logout"],
      ["POST", "/mcp"],
      ["POST", "/message"]
    ]
    for (const [method, path] of tries) {
      const answer = await berth.request(method, path, { headers, body: { name: "evil" } })
      expect(answer.status, `${method} ${path}`).toBe(403)
    }
    expect((await owner.get(`/v1/projects/${project.id}`)).body).toEqual({ data: project })
  })

  it("needs no Origin when the token is sent as Bearer", async () => {
    const answer = await owner.request("POST", "/v1/projects", {
      body: { name: "x" },
      headers: { origin: "https://evil.example" }
    })
    expect(answer.status).toBe(201)
  })

  it("that is unknown, broken or empty is nobody's", async () => {
    for (const value of ["x", "svc_sess_x", "", `"${"x"}"`, "%zz", `${owner.token}x`]) {
      const answer = await berth.request("GET", "/v1/auth/me", { headers: { cookie: `svc_session=${value}` } })
      expect([answer.status, answer.body], value).toEqual([401, failure("UNAUTHORIZED")])
    }
  })

  it("does not take an API key", async () => {
    const account = await berth.signUp()
    const { key } = await account.key((await account.project()).id)
    const answer = await berth.request("GET", "/v1/servers", { headers: { cookie: `svc_session=${key}` } })
    expect(answer.status).toBe(401)
  })

  it("ends with log-out: neither the cookie nor the token is good any more", async () => {
    const account = await berth.signUp()
    const headers = { cookie: `svc_session=${account.token}`, origin: berth.url }
    const answer = await berth.request("POST", "/v1/auth/logout", { headers })
    expect(answer.status).toBe(204)
    expect((await berth.request("GET", "/v1/auth/me", { headers })).status).toBe(401)
    expect((await account.get("/v1/auth/me")).status).toBe(401)
  })

  it("on https is __Host-, secure, and the plain name is not taken", async () => {
    const secure = await new Berth().start({ variables: { BASE_URL: "https://berth.example.com" } })
    try {
      const answer = await secure.request<{ data: { token: string } }>("POST", "/v1/auth/signup", {
        body: { email: "a@example.com", password: "long enough" }
      })
      const [cookie] = answer.headers.getSetCookie()
      expect(cookie).toMatch(
        /^__Host-svc_session=svc_sess_[^;]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/
      )
      const { token } = answer.body.data
      const me = (name: string) => secure.request("GET", "/v1/auth/me", { headers: { cookie: `${name}=${token}` } })
      expect((await me("__Host-svc_session")).status).toBe(200)
      expect((await me("svc_session")).status).toBe(401)
    } finally {
      await secure.stop()
    }
  })
})
