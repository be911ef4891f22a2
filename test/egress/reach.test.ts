import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { until } from "../machines/support.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { describeLong, missingProgram } from "../support/needs.ts"
import { fakeOutside, hasCurl, probeImage } from "./support.ts"

const missing = process.platform === "linux" ? missingProgram("openssl") : "machines need Linux"

interface LogEntry {
  readonly level: string
  readonly message: string
}

describeLong("a server that needs an outside host", () => {
  const berth = new Berth()
  let world: Awaited<ReturnType<typeof fakeOutside>>
  let owner: Account
  let server: Server
  let client: Awaited<ReturnType<typeof connectMcp>>

  /** What the code returns inside the machine, through the server's own tool. */
  const run = async (code: string) => textOf(await callTool(client, "run", { code }))
  const get = (url: string) => run(`return fetch(${JSON.stringify(url)}).then((r) => r.text())`)
  const log = async () =>
    dataOf(
      await owner.get<{ data: { items: ReadonlyArray<LogEntry> } }>(
        `/v1/servers/${server.id}/logs?level=warn&limit=200`
      )
    ).items
  const change = async (egress: unknown) =>
    dataOf(
      await owner.request<{ data: Server & { egress: unknown } }>("PATCH", `/v1/servers/${server.id}`, {
        body: { egress }
      })
    ).egress

  beforeAll(async () => {
    world = await fakeOutside()
    const variables = { EGRESS_PRIVATE_HOSTS: "api.example.com,db.example.com:5432" }
    await berth.start({ machines: true, outside: world.outside, variables })
    world.names.set("api.example.com", ["127.0.0.1"])
    world.names.set("db.example.com", ["10.0.0.5"])
    owner = await berth.signUp("enterprise")
    const project = await owner.project()
    server = await owner.server(project.id, {
      egress: { allow: ["API.example.com.", "db.example.com:5432", "*.public.example.net", "metadata.example.org"] }
    })
    const imageUri = await Effect.runPromise(probeImage(world.authority))
    // One tool call, as an agent makes it.
    const agent = await connectMcp(berth.url, { token: owner.token })
    const deployed = textOf(await callTool(agent, "deploy", { serverId: server.id, imageUri }))
    expect(deployed).toMatchObject({ status: "running" })
    const { accessToken } = dataOf(
      await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
    )
    client = await connectMcp(`${berth.url}/s/${server.slug}`, { token: accessToken })
    await agent.close()
  }, 120_000)
  afterAll(async () => {
    await client.close()
    await berth.stop()
    world.close()
  })

  it("reaches it by name over TLS and plain HTTP, with any client", async () => {
    expect(await get("https://api.example.com/")).toBe("api.example.com over TLS")
    expect(await get("http://api.example.com/")).toBe("api.example.com over http")
    const raw = (connect: string) =>
      run(`return new Promise((resolve) => { const socket = ${connect}; let all = ""
        socket.on("data", (d) => all += d).on("error", (e) => resolve(tell(e))).on("close", () => resolve(all))
        socket.write("GET / HTTP/1.1\\r\\nHost: Api.Example.COM\\r\\nConnection: close\\r\\n\\r\\n") })`)
    expect(await raw(`require("net").connect(80, "api.example.com")`)).toMatch(/Api\.Example\.COM over http/)
    expect(await raw(`require("tls").connect(443, "API.example.com.", { servername: "api.example.com" })`))
      .toMatch(/Api\.Example\.COM over TLS/)
    if (!hasCurl) return
    const curl = (...argv: ReadonlyArray<string>) =>
      run(
        `return new Promise((resolve) => require("child_process").execFile("/usr/bin/curl", ${
          JSON.stringify(["-sS", "--max-time", "5", ...argv])
        }, (e, out, err) => resolve(out + err)))`
      )
    // Through the proxy that the variables name, and by DNS.
    for (const how of [[], ["--noproxy", "*"]]) {
      expect(await curl(...how, "https://api.example.com/")).toBe("api.example.com over TLS")
      expect(await curl(...how, "http://api.example.com/")).toBe("api.example.com over http")
      expect(await curl(...how, "https://other.example.com/")).toMatch(/curl: \(\d+\)/)
    }
    // An SDK's lookup by c-ares.
    expect(await run(`return require("dns").promises.resolve4("api.example.com").then((a) => a.length)`)).toBe(1)
  }, 60_000)

  it("reaches a port that it names as plain TCP, whoever speaks first", async () => {
    const socket = (host: string, port: number) =>
      run(
        `return new Promise((resolve) => { require("net").connect(${port}, "${host}").on("error", (e) => resolve(tell(e)))
        .once("data", (d) => resolve(String(d))) })`
      )
    expect(await socket("db.example.com", 5432)).toBe("hello\n")
    expect(world.connections).toContain("10.0.0.5:5432")
    expect(await socket("db.example.com", 5433)).toMatch(/^failed ECONNREFUSED/)
    // A web port is refused where it can be told of.
    expect(await socket("db.example.com", 80)).toMatch(/^HTTP\/1.1 403 .*egress does not allow/s)
    await until(async () =>
      (await log()).some(({ message }) => /^db\.example\.com:80 was refused/.test(message)) || undefined
    )
  })

  it("does not reach what it may not: other names, the host, private addresses, however they are named", async () => {
    world.names.set("other.example.com", ["93.184.216.34"])
    world.names.set("metadata.example.org", ["169.254.169.254"])
    world.names.set("rebind.public.example.net", ["93.184.216.34"])
    const before = world.connections.length
    expect(await get("https://other.example.com/")).toBe("failed ENOTFOUND")
    expect(await get("http://metadata.example.org/latest/meta-data")).toBe("failed ENOTFOUND")
    expect(await get("http://169.254.169.254/latest/meta-data")).toMatch(/^failed (ENETUNREACH|EINVAL)/)
    expect(await get(`http://127.0.0.1:${new URL(berth.url).port}/v1/plans`)).toMatch(
      /^(failed|.*403|.*inside a machine)/
    )
    expect(await get("https://public.example.net/")).toBe("failed ENOTFOUND")
    expect(await get("http://localhost:4999/")).toBe("failed ECONNREFUSED")
    expect(await run(`return require("dns").promises.lookup("db")`)).toBe("failed ENOTFOUND")
    // A name that was public when it was asked for, and is private a moment later.
    expect(await run(`return require("dns").promises.resolve4("rebind.public.example.net").then((a) => a.length)`))
      .toBe(1)
    world.names.set("rebind.public.example.net", ["127.0.0.1"])
    await new Promise((resolve) => setTimeout(resolve, 5_500))
    expect(await get("http://rebind.public.example.net/")).toMatch(/^failed|^This server's egress/)
    expect(world.connections).toHaveLength(before)
  }, 30_000)

  it("is refused the same by the proxy of its variables", async () => {
    const proxied = (line: string) =>
      run(`return new Promise((resolve) => { const { hostname, port } = new URL(process.env.HTTPS_PROXY); let all = ""
        const s = require("net").connect(port, hostname).on("error", (e) => resolve(tell(e))).on("close", () => resolve(all))
        s.on("data", (d) => { all += d; s.end() }); s.write(${JSON.stringify(line)} + "\\r\\n\\r\\n") })`)
    expect(await proxied("CONNECT api.example.com:443 HTTP/1.1")).toMatch(/^HTTP\/1.1 200/)
    expect(await proxied("GET http://api.example.com/ HTTP/1.1\r\nHost: other.example.com")).toMatch(
      /api\.example\.com over http/
    )
    const refused = [
      "other.example.com:443",
      "169.254.169.254:80",
      "127.0.0.1:80",
      "[::1]:443",
      "[::ffff:127.0.0.1]:80"
    ]
    for (const target of [...refused, "metadata.example.org:80", "api.example.com:22", "8.8.8.8:53"]) {
      expect(await proxied(`CONNECT ${target} HTTP/1.1`), target).toMatch(/^HTTP\/1.1 403/)
    }
    for (const target of ["localhost:80", "db:5432", "2130706433:80", "a..b:80"]) {
      expect(await proxied(`CONNECT ${target} HTTP/1.1`), target).toMatch(/^HTTP\/1.1 400/)
    }
    expect(await proxied("GET / HTTP/1.1\r\nHost: api.example.com")).toMatch(/^HTTP\/1.1 400/)
  })

  it("can't say another name inside than the one it was let out for", async () => {
    const tls = (servername: string) =>
      run(`return new Promise((resolve) => require("tls").connect({ host: "api.example.com", port: 443,
        servername: ${JSON.stringify(servername)}, rejectUnauthorized: false }, () => resolve("connected"))
        .on("error", (e) => resolve(tell(e))))`)
    expect(await tls("api.example.com")).toBe("connected")
    expect(await tls("evil.example.com")).toMatch(/ACCESS_DENIED/)
    expect(await tls("")).toMatch(/ACCESS_DENIED/)
    const evil = `return new Promise((resolve) => require("http").get({ host: "api.example.com", agent: false,
      headers: { host: "evil.example.com" } }, (r) => resolve(r.resume().statusCode)))`
    expect(await run(evil)).toBe(403)
  })

  it("has each refused host in its log, once, with the command that allows it", async () => {
    const lines = await until(async () => {
      const found = (await log()).map(({ message }) => message)
      return found.some((message) => message.startsWith("evil.example.com")) ? found : undefined
    })
    const of = (host: string) =>
      lines.filter((message) => message.startsWith(`${host} `) || message.startsWith(`${host}:`))
    const [line = "", ...more] = of("other.example.com")
    expect(more).toEqual([])
    expect(of("metadata.example.org")).toEqual([expect.stringContaining("private, local or reserved")])
    const [, json = ""] = /npx berth call http\S+\/mcp update_server --input '(.*)'$/.exec(line) ?? []
    const agent = await connectMcp(berth.url, { token: owner.token })
    const changed = textOf(await callTool(agent, "update_server", JSON.parse(json) as Record<string, unknown>))
    await agent.close()
    expect(changed).toMatchObject({
      egress: {
        allow: [
          "api.example.com",
          "db.example.com:5432",
          "*.public.example.net",
          "metadata.example.org",
          "other.example.com"
        ]
      }
    })
    // At once, without a deployment.
    expect(await get("https://other.example.com/")).toBe("other.example.com over TLS")
    expect(world.connections.at(-1)).toBe("93.184.216.34:443")
  }, 30_000)

  it("counts a change for the machine's next question, in both directions, and tells of a refusal again", async () => {
    world.names.set("soon.example.com", ["93.184.216.34"])
    world.names.set("lan.example.com", ["192.168.1.9"])
    const lookUp = (name: string) => run(`return require("dns").promises.lookup("${name}").then((a) => a.family, tell)`)
    const told = async () => {
      const lines = (await log()).map(({ message }) => message)
      return ["soon", "lan"].map((name) => lines.filter((line) => line.startsWith(`${name}.example.com was`)).length)
    }
    for (const round of [1, 2]) {
      await change({ allow: ["lan.example.com"] })
      expect(await lookUp("soon.example.com")).toBe("failed ENOTFOUND")
      expect(await lookUp("lan.example.com")).toBe("failed ENOTFOUND")
      await expect.poll(told).toEqual([round, 2 * round - 1])
      await change({ allow: ["soon.example.com", "lan.example.com"] })
      expect(await lookUp("soon.example.com")).toBe(4)
      expect(await lookUp("lan.example.com")).toBe("failed ENOTFOUND")
      await expect.poll(told).toEqual([round, 2 * round])
    }
    expect(await get("http://soon.example.com/")).toBe("soon.example.com over http")
  })

  it("reaches all that is public with \"internet\", and nothing at all with \"none\"", async () => {
    world.names.set("www.example.com", ["93.184.216.34"])
    world.names.set("printer.example.com", ["192.168.1.9"])
    world.names.set("mixed.example.com", ["93.184.216.34", "10.0.0.1"])
    expect(await change("internet")).toBe("internet")
    await until(async () => await get("https://www.example.com/") === "www.example.com over TLS" || undefined, 15)
    for (const name of ["printer.example.com", "mixed.example.com", "api.example.com"]) {
      expect(await get(`http://${name}/`), name).toMatch(/^failed|^This server's egress/)
    }
    // A database speaks to whoever connects: the name's local address alone tells which host is meant.
    const hear = (port: number) =>
      run(`return new Promise((done) => require("net").connect(${port}, "www.example.com")
        .on("data", (d) => done(String(d))).on("error", (e) => done(tell(e))))`)
    expect(await hear(5432)).toBe("hello\n")
    expect(world.connections.at(-1)).toBe("93.184.216.34:5432")
    expect(await hear(25)).toBe("failed ECONNREFUSED")
    expect(await change("none")).toBe("none")
    await until(async () => /^failed/.test(String(await get("https://www.example.com/"))) || undefined, 15)
    expect(await change(null)).toBe("none")
  }, 60_000)

  it("counts what passes as the account's bandwidth", async () => {
    const used = async () =>
      dataOf(await owner.get<{ data: { usage: { bandwidthBytes: number } } }>("/v1/billing")).usage
        .bandwidthBytes
    const before = await used()
    await change({ allow: ["api.example.com"] })
    const large = await until(async () => {
      const length = await run(
        `return fetch("http://api.example.com/large").then((r) => r.arrayBuffer()).then((b) => b.byteLength)`
      )
      return length === 1_000_000 ? length : undefined
    }, 15)
    expect(large).toBe(1_000_000)
    await until(async () => await used() - before >= 1_000_000 || undefined, 20)
  }, 40_000)
}, missing)
