import { createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Running, start } from "../../ready-server/bundle.ts"
import { restaurant } from "../../ready-server/config.ts"
import { berthCli } from "./run.ts"

let server: Running
let front: Server
let guarded: string
/** What `/stateless` was asked. */
const seen: Array<unknown> = []

const expired = JSON.stringify({ error: { code: "not_found", message: "It has expired: make another" } })
const stopped = JSON.stringify({ error: { code: "SERVICE_UNAVAILABLE", message: "The server is st\u001b[31mopped" } })

/**
 * The ready server with what a gateway puts before it: `/guarded` asks for a token, `/legacy` has no Streamable HTTP,
 * `/stateless` knows nothing before revision 2026-07-28, `/broken` answers as no MCP server does, `/named` is there under a name of its own.
 */
const makeFront = (target: string) =>
  createServer((incoming, outgoing) => {
    const [, door = "", ...rest] = (incoming.url ?? "").split("/")
    const refuse = (status: number, body = "{}") => {
      incoming.resume()
      outgoing.writeHead(status, { "content-type": "application/json" }).end(body)
    }
    if (door === "guarded" && incoming.headers.authorization !== "Bearer right") return refuse(401)
    if (door === "legacy" && incoming.method === "POST" && rest[0] === "sse-only") return refuse(405)
    if (door === "named" && !/^ladle\.mcp\.localhost:\d+$/.test(incoming.headers.host ?? "")) return refuse(404)
    if (door === "broken") return refuse(200, "{\"hello\":\"world\"}")
    if (door === "down") return refuse(503)
    if (door === "stateless" && incoming.headers["mcp-protocol-version"] !== "2026-07-28") {
      return refuse(400, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32022, message: "Too old" } }))
    }
    if (door === "stateless") seen.push(incoming.headers["mcp-method"])
    if (door === "stopped") return refuse(503, stopped)
    if (door === "expired") return refuse(404, expired)
    const path = `/${rest.join("/").replace(/^sse-only/, "sse")}`
    const { headers, method } = incoming
    const outgoingRequest = request(`${target}${path}`, { method: method ?? "GET", headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    })
    outgoingRequest.on("error", () => outgoing.destroy())
    outgoing.on("close", () => outgoingRequest.destroy())
    incoming.pipe(outgoingRequest)
  })

beforeAll(async () => {
  server = await start(restaurant)
  front = makeFront(server.url)
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve))
  guarded = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}, 60_000)
afterAll(async () => {
  front?.closeAllConnections()
  front?.close()
  await server?.stop()
})

describe("berth tools", () => {
  it("prints a table of the tools with their arguments", async () => {
    const { code, out } = await berthCli(["tools", `${server.url}/mcp`])
    expect(code).toBe(0)
    expect(out).toMatch(/^TOOL +ARGUMENTS +WHAT IT DOES\n/)
    expect(out).toMatch(/\nsearch_catalog +query \[category\] \[limit\] +Finds items of The Copper Ladle/)
  })

  it("--json prints the tools as the server gives them", async () => {
    const { out } = await berthCli(["tools", `${server.url}/mcp`, "--json"])
    const tools = JSON.parse(out) as ReadonlyArray<{ readonly name: string; readonly outputSchema: unknown }>
    expect(tools.map(({ name }) => name)).toContain("browse_catalog")
    expect(tools[0]?.outputSchema).toBeDefined()
  })

  it("speaks HTTP+SSE to a URL that ends in /sse, and where Streamable HTTP is answered with 405", async () => {
    for (const url of [`${server.url}/sse`, `${guarded}/legacy/sse-only`]) {
      expect(await berthCli(["tools", url])).toMatchObject({ code: 0, out: expect.stringContaining("get_hours") })
    }
  })

  it("speaks to a server that knows nothing before revision 2026-07-28, with one request more", async () => {
    const url = `${guarded}/stateless/mcp`
    expect(await berthCli(["tools", url])).toMatchObject({
      code: 0,
      out: expect.stringContaining("get_hours"),
      err: ""
    })
    expect(seen.splice(0)).toEqual(["tools/list"])
    const called = await berthCli(["call", url, "search_catalog", "--arg", "query=soup", "--json"])
    expect([called.code, called.err]).toEqual([0, ""])
    expect(JSON.parse(called.out)).toMatchObject({ structuredContent: { items: expect.any(Array) as unknown } })
    expect(seen.splice(0)).toEqual(["tools/list", "tools/call"])
  })

  it("reaches *.localhost by its name without a resolver that knows it", async () => {
    const url = guarded.replace("127.0.0.1", "ladle.mcp.localhost")
    for (const path of ["mcp", "sse"]) {
      expect(await berthCli(["tools", `${url}/named/${path}`])).toMatchObject({ code: 0, err: "" })
    }
    expect(await berthCli(["tools", `${url.replace("ladle", "other")}/named/mcp`])).toMatchObject({ code: 4 })
  })
})

describe("berth call", () => {
  const mcp = () => `${server.url}/mcp`

  it("prints the menu for reading", async () => {
    const { code, out } = await berthCli(["call", mcp(), "browse_catalog", "--arg", "category=Drinks"])
    expect(code).toBe(0)
    expect(out).toMatch(/id +name +price +isAvailable/)
    expect(out).toMatch(/item_cider +Orchard Cider +\$6\.00 +true/)
    expect(out).toContain("total: 3")
  })

  it("reads numbers by the schema, --input as all arguments, and --arg over it", async () => {
    const raw = async (...args: ReadonlyArray<string>) =>
      JSON.parse((await berthCli(["call", mcp(), "browse_catalog", "--json", ...args])).out).structuredContent
    expect((await raw("--arg", "limit=2")).categories[0].items).toHaveLength(2)
    expect((await raw("--input", "{\"limit\":3}")).categories[0].items).toHaveLength(3)
    expect((await raw("--input", "{\"limit\":3}", "--arg", "limit=1")).categories[0].items).toHaveLength(1)
  })

  it("a tool's refusal is its text on standard error and exit code 1; with --json it is a document", async () => {
    const refused = await berthCli(["call", mcp(), "get_item", "--arg", "id=unicorn"])
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("There is no item \"unicorn\"") })
    const raw = await berthCli(["call", mcp(), "get_item", "--arg", "id=unicorn", "--json"])
    expect([raw.code, raw.out]).toEqual([1, ""])
    expect(JSON.parse(raw.err)).toEqual({ error: { code: "FAILED", message: refused.err, exitCode: 1 } })
  })

  it.each<[string, ReadonlyArray<string>, string]>([
    ["an unknown tool", ["brows_catalog"], "has no tool \"brows_catalog\". Did you mean \"browse_catalog\"?"],
    ["an unknown argument", ["browse_catalog", "--arg", "limt=5"], "Did you mean \"limit\"?"],
    ["a number that is none", ["browse_catalog", "--arg", "limit=ten"], "\"limit\" must be integer, not \"ten\""],
    ["a pair that is none", ["browse_catalog", "--arg", "limit"], "--arg takes name=value"],
    ["JSON that is none", ["browse_catalog", "--input", "{"], "--input takes a JSON object"]
  ])("%s is one clear sentence", async (_, args, message) => {
    const { code, err, out } = await berthCli(["call", mcp(), ...args])
    expect(code).toBe(1)
    expect(out).toBe("")
    expect(err).toContain(message)
    expect(err.split("\n")).toHaveLength(1)
  })
})

describe("a server that cannot be used", () => {
  it("asks for the token that is missing, and says so of one that is wrong", async () => {
    for (const path of ["mcp", "sse"]) {
      const none = await berthCli(["tools", `${guarded}/guarded/${path}`])
      expect(none).toMatchObject({
        code: 3,
        err: expect.stringContaining(
          "asks for a token. Give one with --token or in BERTH_TOKEN; where a Berth hosts it, berth login is enough"
        )
      })
      const wrong = await berthCli(["tools", `${guarded}/guarded/${path}`, "--token", "wrong"])
      expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining("did not accept the token") })
    }
  })

  it("takes the token from --token, else from BERTH_TOKEN", async () => {
    const url = `${guarded}/guarded/mcp`
    expect((await berthCli(["tools", url, "--token", "right"])).code).toBe(0)
    expect((await berthCli(["tools", url], { BERTH_TOKEN: "right" })).code).toBe(0)
    expect((await berthCli(["tools", url, "--token", "wrong"], { BERTH_TOKEN: "right" })).code).toBe(3)
    const call = ["call", `${guarded}/guarded/sse`, "get_item", "--arg", "id=item_cider", "--token", "right"]
    expect(await berthCli(call)).toMatchObject({ code: 0, out: expect.stringContaining("$6.00") })
  })

  it.each<[string, () => string, string, number]>([
    ["nobody listening", () => "http://127.0.0.1:1025/mcp", "Nothing listens at 127.0.0.1:1025", 6],
    ["an unknown path", () => `${server.url}/nothing`, "There is no MCP server at", 4],
    ["an unknown /sse", () => `${server.url}/nothing/sse`, "There is no MCP server at", 4],
    [
      "a composite that is no more",
      () => `${guarded}/expired/mcp/composites/x`,
      "status 404: It has expired: make another.",
      4
    ],
    ["a server that says why it is down", () => `${guarded}/stopped/mcp`, "status 503: The server is st[31mopped.", 1],
    ["a server that is down", () => `${guarded}/down/mcp`, "answered with status 503", 1],
    ["something else on HTTP", () => `${guarded}/broken/mcp`, "did not answer as an MCP server does", 1],
    ["a URL that is none", () => "localhost:8787", "is not the URL of an MCP server", 1],
    ["another scheme", () => "file:///etc/passwd", "is not the URL of an MCP server", 1]
  ])("%s is one clear sentence, and an exit code", async (_, url, message, exitCode) => {
    const { code, err, out } = await berthCli(["tools", url()])
    expect({ code, out }).toEqual({ code: exitCode, out: "" })
    expect(err).toContain(message)
    expect(err.split("\n")).toHaveLength(1)
  })
})
