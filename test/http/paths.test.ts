import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, type Listed, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type FailureBody, sendRaw } from "../support/http.ts"

const berth = useBerth()
let owner: Account
let other: Account
let project: Project
let server: Server

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  other = await berth.signUp("enterprise")
  project = await owner.project()
  server = await owner.server(project.id)
  for (const account of [owner, other]) for (let i = 0; i < 3; i++) await account.project(`P${i}`)
  for (let i = 0; i < 2; i++) await owner.server(project.id)
  for (let i = 0; i < 2; i++) await owner.key(project.id)
})

describe("a path", () => {
  it("that can't be decoded, or names nothing, is 404 with the envelope", async () => {
    const paths = ["/%zz", "/%", "/%00", "/v1/projects/%zz", "/v1/projects/%00", "/v1/projects/%ed%a0%80", "/v1/%2e%2e"]
      .concat(
        "/v1/servers/%F0%9F%92%A9",
        "/v1/servers/%E2%80%AEabc",
        `/v1/servers/${"a".repeat(5_000)}`,
        "/V1/projects"
      )
      .concat("/v1/servers/..%2f..%2fetc%2fpasswd", "/v1/servers/__proto__", "/.git/config", "/v1/projects/a/b/c/d")
      .concat(`/v1/servers/${server.id.toLowerCase()}`, "/v1/servers/srv_")
      .concat(`/v1/servers/${project.id}`, `/v1/projects/${server.id}`, `/v1/servers/${server.id}%00`)
      .concat(`/v1/servers/${server.id}%20`, `/v1/servers/'%20OR%201=1--`)
    for (const path of paths) {
      const answer = await owner.get(path)
      expect([answer.status, answer.body], path).toEqual([404, failure("NOT_FOUND")])
    }
  })

  it("of ours has no ; or #: what is behind one decides nothing, neither the route nor the rate", async () => {
    for (const sign of [";", "%3B"]) {
      const answer = await owner.get(`/v1/projects${sign}/.well-known/oauth-authorization-server`)
      expect([answer.status, answer.body], sign).toEqual([404, failure("NOT_FOUND")])
    }
    const { port } = new URL(berth.url)
    const head = `Host: localhost:${port}\r\nAuthorization: Bearer ${owner.token}\r\nConnection: close\r\n\r\n`
    expect(await sendRaw(berth.url, `GET /v1/projects#/.well-known/jwks HTTP/1.1\r\n${head}`)).toMatch(
      /^HTTP\/1\.1 4\d\d /
    )
  })

  it("has room for the longest name there can be", async () => {
    const name = "N".repeat(255)
    const path = `/v1/servers/${server.id}/env/${name}`
    expect((await owner.put(path, { value: "x" })).status).toBe(201)
    expect((await owner.put(path, { value: "x" })).status).toBe(200)
    expect((await owner.delete(path)).status).toBe(204)
  })

  it("is answered to HEAD as to GET, without the body", async () => {
    for (const path of ["/v1/projects", "/v1/health", "/v1/nothing", "/openapi.json"]) {
      const [head, get] = [await owner.request("HEAD", path), await owner.get(path)]
      expect([head.status, head.text], path).toEqual([get.status, ""])
    }
  })

  it("in absolute form (RFC 9112 §3.2.2) is taken by its path", async () => {
    const answer = await owner.get(`${berth.url}/v1/projects/${project.id}`)
    expect(answer.status).toBe(200)
  })

  it("that is far too long, or headers that are, are refused in one piece", async () => {
    const answer = await sendRaw(
      berth.url,
      `GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
  })
})

describe("a query", () => {
  it("that repeats a parameter is 400", async () => {
    const answer = await owner.get("/v1/projects?limit=1&limit=2")
    expect([answer.status, answer.body]).toEqual([400, failure("BAD_REQUEST", { issues: expect.any(Array) })])
  })

  it("with NUL or broken text in a search is 400", async () => {
    for (const search of ["%00", "a%00b", `${"x".repeat(1001)}`]) {
      const answer = await owner.get(`/v1/servers/${server.id}/logs?search=${search}`)
      expect([answer.status, answer.body], search).toEqual([
        400,
        failure("BAD_REQUEST", { issues: [{ path: "search", message: expect.any(String) }] })
      ])
    }
    for (const search of ["%F0%9F%92%A9", "%E2%80%AE"]) {
      expect((await owner.get(`/v1/servers/${server.id}/logs?search=${search}`)).status, search).toBe(200)
    }
  })
})

describe("a query whose percent-encoding is broken, or is not UTF-8,", () => {
  it("is 400 and names the parameter, wherever the JSON API takes one", async () => {
    const paths = ["/v1/projects", `/v1/servers/${server.id}/logs`, "/v1/directory", "/v0.1/servers", "/v1/billing"]
      .concat("/.well-known/mcp-server-metadata", "/api/v1/ready/businesses")
    for (const path of paths) {
      for (const value of ["%FF", "%E0%A4%A", "%", "%zz", "a%2", "%ed%a0%80", "%C0%AF", "ok%20%F0%9F%92"]) {
        const { body, status } = await owner.get<FailureBody>(`${path}?limit=1&search=${value}`)
        expect([status, body.error.message], `${path} ${value}`).toEqual([
          400,
          "search: must be UTF-8, percent-encoded"
        ])
        expect(body.error.code.toUpperCase()).toBe("BAD_REQUEST")
      }
    }
    // Where the contract's tables have another code for a query that does not fit.
    const ofHub = [["/v1/hub/composites", "validation_error"], ["/v1/hub/composites/browse", "validation_error"]]
      .concat([["/api/v1/hub/analytics/listings/x", "invalid_input"]])
    const message = "must be UTF-8, percent-encoded"
    for (const [path, code] of ofHub) {
      expect((await owner.get<FailureBody>(`${path}?vertical=%ff`)).body, path).toEqual({
        error: { code, message: `vertical: ${message}`, details: { issues: [{ path: "vertical", message }] } }
      })
    }
    expect((await owner.get<FailureBody>("/v1/hub/composites?%FF=1")).body.error.message).toBe(`The query ${message}`)
    expect((await owner.get<FailureBody>("/v1/projects?%FF=1")).body.error.message)
      .toBe("The query must be UTF-8, percent-encoded")
  })

  it("is none where the text is whole", async () => {
    for (const search of ["caf%C3%A9", "a+b", "100%25", "%E6%97%A5%E6%9C%AC", "a=b=c", ""]) {
      expect((await owner.get(`/v1/servers/${server.id}/logs?search=${search}&&`)).status, search).toBe(200)
    }
  })
})

describe("a cursor", () => {
  const cursorOf = async (account: Account, path: string) =>
    (await account.get<Listed<unknown>>(`${path}?limit=1`)).body.meta.cursor ?? ""

  it("that is garbage is 400 on every list", async () => {
    const good = await cursorOf(owner, "/v1/projects")
    const decoded = Buffer.from(good, "base64url").toString()
    const made = (text: string) => Buffer.from(text).toString("base64url")
    const bad = ["", "x", "null", "0", "%00", "%F0%9F%92%A9", "a".repeat(5_000), made("{}"), made("projects\nprj_x")]
      .concat(made(decoded.replace(/.$/, "!")), made(`${decoded}\n`), made(decoded.split("\n")[0] ?? ""), `${good}=x`)
      .concat(made(decoded.replace("prj_", "srv_")), made(`${decoded}'--`))
    for (const path of ["projects", "servers", `projects/${project.id}/servers`, `projects/${project.id}/keys`]) {
      for (const cursor of bad) {
        const answer = await owner.get(`/v1/${path}?cursor=${cursor}`)
        expect([answer.status, answer.body], `${path} ${cursor}`).toEqual([400, failure("BAD_REQUEST")])
      }
    }
  })

  it("of another list or another account is 400", async () => {
    const lists = [
      "/v1/projects",
      "/v1/servers",
      `/v1/projects/${project.id}/servers`,
      `/v1/projects/${project.id}/keys`
    ]
    const cursors = await Promise.all(lists.map((path) => cursorOf(owner, path)))
    expect(cursors.every((cursor) => cursor !== "")).toBe(true)
    for (const [to, path] of lists.entries()) {
      for (const [from, cursor] of cursors.entries()) {
        const { status } = await owner.get(`${path}?cursor=${cursor}`)
        expect(status, `${from} ${to}`).toEqual(from === to ? 200 : 400)
      }
    }
    const foreign = await cursorOf(other, "/v1/projects")
    expect((await owner.get(`/v1/projects?cursor=${foreign}`)).status).toBe(400)
  })

  it("goes on after an item that is gone, and skips nothing when others are added", async () => {
    const account = await berth.signUp("enterprise")
    const made: Array<string> = []
    for (let i = 0; i < 4; i++) made.unshift((await account.project(`P${i}`)).id)
    const { body } = await account.get<Listed<Project>>("/v1/projects?limit=2")
    await account.delete(`/v1/projects/${made[1]}`)
    await account.project("New")
    const next = await account.get<Listed<Project>>(`/v1/projects?limit=2&cursor=${body.meta.cursor}`)
    expect(next.body.data.map(({ id }) => id)).toEqual(made.slice(2))
    expect(next.body.meta).toEqual({ cursor: null, hasMore: false, total: 4 })
  })
})
