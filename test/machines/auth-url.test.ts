import { createServer, request as open } from "node:http"
import { type AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { startClientHost } from "../oauth/support/client-host.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { type Asker, deployAsker, written } from "./asker.ts"

const base = "/tenant/a"
const form = { "content-type": "application/x-www-form-urlencoded" }
const jwks = "/api/v1/oauth/jwks"

/** What the platform fetches for `authorize?client_id=`: a visitor's request that goes somewhere else. */
const authorize = (clientId: string) => `/api/v1/oauth/authorize?${new URLSearchParams({ client_id: clientId })}`

const introspection = ({ replayToken, token }: Asker) => ({
  body: `token=${token}`,
  headers: { ...form, authorization: `Bearer ${replayToken}` }
})

/** Each asks for no more than a machine has a use for, and not in these words. */
const refused: ReadonlyArray<readonly [method: string, path: string]> = [
  ["GET", "/"],
  ["GET", "/v1/health"],
  ["GET", "/v1/directory"],
  ["POST", "/v1/auth/signup"],
  ["POST", "/v1/auth/login"],
  ["POST", "/mcp"],
  ["GET", "/docs"],
  ["GET", "/oauth/sign-in"],
  ["POST", "/api/v1/oauth/register"],
  ["POST", "/api/v1/oauth/token"],
  ["POST", "/api/v1/oauth/revoke"],
  ["GET", "/api/v1/oauth/introspect"],
  ["POST", jwks],
  ["OPTIONS", jwks],
  ["DELETE", "/api/v1/ready/self/config"],
  ["GET", `${jwks}/../authorize?client_id=x`],
  ["GET", `${jwks}/`],
  ["GET", `/${jwks}`],
  ["GET", "/api/v1/oauth/%6Awks"],
  ["GET", "/API/v1/oauth/jwks"],
  ["GET", `http://localhost${jwks}`],
  ["GET", "/.well-known/mcp-server-metadata?subdomain=x"],
  ["GET", "/.well-known/oauth-protected-resource/s/x"]
]

/** The rules of the way to AUTH_URL, whatever leads there. */
const rules = (
  of: () => { readonly berth: Berth; readonly one: Asker; readonly two: Asker; readonly path: string }
) => {
  it("passes introspection, the keys, the metadata and the server's own configuration", async () => {
    const { one, path } = of()
    const introspected = await one.ask("POST", `${path}/api/v1/oauth/introspect`, introspection(one))
    expect([introspected.status, JSON.parse(introspected.body)]).toMatchObject([200, { active: true }])
    const documents = [
      `${path}${jwks}`,
      `/.well-known/oauth-authorization-server${path}`,
      `/.well-known/openid-configuration${path}`,
      `${path}/.well-known/oauth-authorization-server`,
      "/.well-known/oauth-authorization-server",
      "/.well-known/oauth-protected-resource"
    ]
    for (const document of documents) expect((await one.ask("GET", document)).status, document).toBe(200)
    expect((await one.ask("HEAD", `${path}${jwks}`, { headers: { connection: "close" } })).status).toBe(200)
    // No business is linked to the server.
    const config = await one.ask("GET", `${path}/api/v1/ready/self/config`, {
      headers: { authorization: `Bearer ${one.replayToken}` }
    })
    expect([config.status, config.body]).toEqual([404, expect.stringContaining("config_not_generated")])
  })

  it("refuses everything else, and says what there is", async () => {
    const { berth, one } = of()
    for (const [method, path] of refused) {
      const { body, headers, status } = await one.ask(method, path, method === "POST" ? { body: "{}" } : {})
      expect([status, body], `${method} ${path}`).toEqual([
        403,
        expect.stringMatching(/From inside a machine only token/)
      ])
      expect(headers).toMatch(/x-request-id: /i)
    }
    // The same is answered to anybody else.
    expect((await berth.request("GET", "/v1/health")).status).toBe(200)
  })

  it("refuses what is for a hosted server, another or its own, in either form of its address", async () => {
    const { one, two } = of()
    expect((await one.ask("GET", `/s/${two.server.slug}/healthz`)).status).toBe(403)
    for (const { server } of [one, two]) {
      const host = `${server.slug}.mcp.localhost`
      expect((await one.ask("GET", "/healthz", { headers: { host } })).status).toBe(403)
    }
  })

  it("lets no machine have the platform fetch from elsewhere, as a visitor's authorization request does", async () => {
    const { berth, one, path } = of()
    const { host, stop } = await startClientHost()
    const [theirs, ours] = [host.newId(), host.newId()]
    expect((await one.ask("GET", path + authorize(theirs))).status).toBe(403)
    await berth.request("GET", authorize(ours))
    expect(host.asked.map(({ url }) => url)).toEqual([new URL(ours).pathname])
    stop()
  })

  it("reads what follows on a connection as the same machine's next request", async () => {
    const { one, path } = of()
    const hidden = written("GET", "/v1/health")
    const pipelined = await one.sendRaw(written("GET", path + jwks) + hidden, { answers: 2 })
    expect(pipelined[0]?.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"])
    const twoLengths = written("POST", `${path}/api/v1/oauth/introspect`, {
      body: `0\r\n\r\n${hidden}`,
      headers: { ...introspection(one).headers, "transfer-encoding": "chunked" }
    })
    const [smuggled = ""] = await one.sendRaw(twoLengths, { answers: 2 })
    expect(smuggled.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"])
  })

  it("counts each machine by itself, whatever address it says it has", async () => {
    const { berth, one, path, two } = of()
    berth.advance(60_000)
    const bytes = Array.from(
      { length: 60 },
      (_, i) =>
        written("GET", "/v1/nothing", {
          headers: { "x-forwarded-for": `203.0.113.${i}`, forwarded: `for=203.0.113.${i}` }
        })
    )
    const statuses = async () => (await one.sendRaw(bytes.join(""), { answers: 60 }))[0]?.match(/HTTP\/1\.1 \d+/g) ?? []
    const all = [...await statuses(), ...await statuses()]
    expect(all.filter((line) => line.endsWith("403"))).toHaveLength(100)
    expect(all.filter((line) => line.endsWith("429"))).toHaveLength(20)
    expect((await two.ask("GET", "/v1/nothing")).status).toBe(403)
    // What its server may ask for is another purse.
    expect((await one.ask("POST", `${path}/api/v1/oauth/introspect`, introspection(one))).status).toBe(200)
    berth.advance(60_000)
  })

  it("holds a machine to so many connections, which are not another's", async () => {
    const { berth, one, path, two } = of()
    berth.advance(60_000)
    const crowd = one.sendRaw(written("GET", path + jwks), { count: 90 })
    const [other, answers] = await Promise.all([two.ask("GET", path + jwks), crowd])
    expect(other.status).toBe(200)
    const answered = answers.filter((answer) => answer.startsWith("HTTP/1.1 200")).length
    expect(answered).toBeGreaterThan(8)
    expect(answered).toBeLessThanOrEqual(64)
    berth.advance(60_000)
  })
}

const start = async (variables: Readonly<Record<string, string>>) => {
  const berth = new Berth()
  await berth.start({ machines: true, variables: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1", ...variables } })
  const [one, two] = await Promise.all(
    Array.from({ length: 2 }, async () => deployAsker(berth, await berth.signUp("pro")))
  )
  return { berth, one: one!, two: two! }
}

const enforced = async (berth: Berth) =>
  (await berth.request<{ compute: { enforces: ReadonlyArray<string>; lacks: ReadonlyArray<string> } }>(
    "GET",
    "/v1/health"
  ))
    .body.compute

describeLong("the way from a machine to an AUTH_URL of http", () => {
  let at: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    at = await start({ AUTH_URL: `http://localhost:9${base}` })
  })
  afterAll(() => at.berth.stop())

  rules(() => ({ ...at, path: base }))

  it("is told of in the health report", async () => {
    const { enforces, lacks } = await enforced(at.berth)
    expect(enforces).toContainEqual(expect.stringMatching(/AUTH_URL: introspection, signing keys, metadata, its own/))
    expect(lacks).not.toContainEqual(expect.stringContaining("AUTH_URL"))
  })
}, missingForApps)

/**
 * A proxy as it stands in front on the same host. TLS is between it and the machine, and nothing on the way looks
 * inside: here there is none.
 */
const proxyTo = async (target: () => string) => {
  const seen = new Set<string>()
  const proxy = createServer((req, res) => {
    const address = req.socket.remoteAddress?.replace(/^::ffff:/, "") ?? ""
    seen.add(address)
    const { "x-forwarded-for": claimed, ...headers } = req.headers
    const { host: hostname, port } = new URL(target())
    const forwarded = claimed === undefined ? address : `${claimed.toString()}, ${address}`
    const outgoing = open({
      host: hostname.replace(/:.*/, ""),
      port,
      method: req.method,
      path: req.url,
      headers: { ...headers, "x-forwarded-for": forwarded }
    })
    outgoing.on("response", (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(res)
    })
    outgoing.on("error", () => res.destroy())
    req.pipe(outgoing)
  }).listen(0, "127.0.0.1")
  // Asked for later, the address of a connection that its client has closed meanwhile is none.
  proxy.on("connection", ({ remoteAddress }) => void remoteAddress)
  await new Promise((resolve) => proxy.once("listening", resolve))
  return { proxy, seen, port: (proxy.address() as AddressInfo).port }
}

describeLong("the way from a machine to an AUTH_URL of https, by a proxy on this host", () => {
  let at: Awaited<ReturnType<typeof start>>
  let front: Awaited<ReturnType<typeof proxyTo>>
  beforeAll(async () => {
    front = await proxyTo(() => at?.berth.url ?? "")
    at = await start({ AUTH_URL: `https://localhost:${front.port}${base}`, TRUST_PROXY: "1" })
  })
  afterAll(async () => {
    await at.berth.stop()
    front.proxy.close().closeAllConnections()
  })

  rules(() => ({ ...at, path: base }))

  it("comes from an address that is the machine's alone", async () => {
    front.seen.clear()
    await at.one.ask("GET", base + jwks)
    const [first = ""] = front.seen
    expect(first).toMatch(/^127\.66\.\d+\.\d+$/)
    await at.two.ask("GET", base + jwks)
    await at.one.ask("GET", base + jwks)
    expect([...front.seen]).toEqual([first, expect.stringMatching(/^127\.66\.\d+\.\d+$/)])
  })

  it("can't be claimed from outside", async () => {
    for (const claim of ["127.66.1.2", "127.66.1.2, 127.66.1.2"]) {
      const answer = await fetch(`http://127.0.0.1:${front.port}/v1/health`, { headers: { "x-forwarded-for": claim } })
      expect(answer.status).toBe(200)
    }
  })
}, missingForApps)
