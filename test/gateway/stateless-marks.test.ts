import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { envelopeOf } from "#src/routing/stateless-request.ts"
import { assert, describe, it, layer } from "@effect/vitest"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { Effect } from "effect"
import { type IncomingMessage, type RequestListener } from "node:http"
import { text } from "node:stream/consumers"
import { gatewayServices, newServer, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const revision = "2026-07-28"
const meta = {
  "io.modelcontextprotocol/protocolVersion": revision,
  "io.modelcontextprotocol/clientInfo": { name: "caller", version: "7" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} }
}

const tools = () => {
  const server = new McpServer({ name: "tools", version: "1" })
  const done = () => ({ content: [{ type: "text" as const, text: "done" }] })
  server.registerTool("wipe", { annotations: { readOnlyHint: false } }, done)
  server.registerTool("look", { annotations: { readOnlyHint: true } }, done)
  server.registerTool("plain", {}, done)
  return server
}

/** A server of the SDK's second version that speaks no revision before 2026-07-28. */
const strictServer = (responseMode: "json" | "sse"): RequestListener => {
  const handler = createMcpHandler(tools, { legacy: "reject", responseMode })
  const answer = async (req: IncomingMessage, res: Parameters<RequestListener>[1]) => {
    const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)])
    const request = new Request(`http://x${req.url}`, { method: "POST", headers, body: await text(req) })
    const response = await handler.fetch(request)
    res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
  }
  return (req, res) => void answer(req, res)
}

layer(gatewayServices(), { excludeTestServices: true })("mcp:write at a server of revision 2026-07-28 alone", (it) => {
  /** A caller in that revision whose token has mcp:write and mcp:read. */
  const caller = (listener: RequestListener) =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { audience, id, path } = yield* newServer({ machine: yield* startUpstream(listener) })
      const request = { accountId: "a", audience, scope: "mcp:read mcp:write", clientId: "c", serverId: id }
      const { token } = yield* (yield* AccessTokens).mint(request)
      return (name: string, _meta: unknown = meta, ...more: ReadonlyArray<string>) => {
        const params = { name, arguments: {}, _meta }
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
        return rawRequest(port, "POST", `${path}/mcp`, [
          "Host: b",
          `Authorization: Bearer ${token}`,
          "Content-Type: application/json",
          "Accept: application/json, text/event-stream",
          `Mcp-Protocol-Version: ${revision}`,
          "Mcp-Method: tools/call",
          `Mcp-Name: ${name}`,
          `Content-Length: ${body.length}`,
          ...more
        ], body)
      }
    })

  for (const mode of ["json", "sse"] as const) {
    it.scoped(`calls the tools that it marks state-changing, and no others (${mode})`, () =>
      Effect.gen(function*() {
        const call = yield* caller(strictServer(mode))
        for (const name of ["wipe", "look", "plain", "unknown"]) {
          const response = yield* call(name)
          assert.strictEqual(statusOf(response), name === "wipe" ? 200 : 403, `${name}: ${response}`)
        }
      }))
  }

  it.scoped("is asked for all pages of its tools as its caller speaks, once, and addressed like any request", () =>
    Effect.gen(function*() {
      const asked: Array<{ readonly headers: IncomingMessage["headers"]; readonly params: unknown }> = []
      const answer = async (req: IncomingMessage, res: Parameters<RequestListener>[1]) => {
        const { id, method, params } = JSON.parse(await text(req))
        const page = params.cursor === undefined ? 0 : Number(params.cursor)
        if (method === "tools/list") asked.push({ headers: req.headers, params })
        const annotations = { readOnlyHint: false, title: "x" }
        const result = method === "tools/list"
          ? { tools: [{ name: `tool${page}`, annotations }], ...(page < 2 ? { nextCursor: String(page + 1) } : {}) }
          : { content: [] }
        res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }))
      }
      const call = yield* caller((req, res) => void answer(req, res))
      for (const name of ["tool2", "tool0", "tool1"]) assert.strictEqual(statusOf(yield* call(name)), 200, name)
      assert.deepStrictEqual(
        asked.map(({ params }) => params),
        [{ _meta: meta }, { cursor: "1", _meta: meta }, { cursor: "2", _meta: meta }]
      )
      for (const { headers } of asked) {
        assert.deepInclude(headers, {
          host: "localhost:8080",
          "mcp-protocol-version": revision,
          "mcp-method": "tools/list"
        })
        assert.match(headers.authorization ?? "", /^Bearer /)
      }
    }))

  it.scoped("has answered when its answer is there, though its stream stays open", () =>
    Effect.gen(function*() {
      const call = yield* caller((_, res) => {
        const result = { tools: [{ name: "wipe", annotations: { readOnlyHint: false } }] }
        res.writeHead(200, { "content-type": "text/event-stream" })
        res.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: "berth-gateway", result })}\n\n`)
        setTimeout(() => res.end(), 200)
      })
      assert.strictEqual(statusOf(yield* call("wipe")), 200)
    }))

  const broken: Readonly<Record<string, RequestListener>> = {
    "an error": (_, res) => {
      const error = { code: -32022, message: "Unsupported protocol version" }
      res.writeHead(400, { "content-type": "application/json" })
      res.end(JSON.stringify({ jsonrpc: "2.0", id: "berth-gateway", error }))
    },
    "no JSON": (_, res) => void res.end("tools"),
    "a list of something else": (_, res) => {
      res.end(JSON.stringify({ jsonrpc: "2.0", id: "berth-gateway", result: { tools: [{ title: "x" }] } }))
    },
    "a stream that ends before it answers": (_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).end("data: {\"method\":\"x\"}\n\n")
    },
    "more than anybody would read": (_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).end(`: ${"x".repeat(5_000_000)}\n\n`)
    }
  }
  for (const [what, listener] of Object.entries(broken)) {
    it.scoped(`calls nothing of one that answers with ${what}`, () =>
      Effect.gen(function*() {
        const call = yield* caller(listener)
        assert.strictEqual(statusOf(yield* call("wipe")), 403)
      }))
  }
})

describe("the revision of a message", () => {
  const message = (_meta: unknown) => ({ method: "tools/call", params: { name: "x", _meta } })
  it("is what it says itself, or else the header beside it", () => {
    assert.deepStrictEqual(envelopeOf(message({ ...meta, progressToken: 1 }), "2025-11-25"), { revision, meta })
    const bare = {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    assert.deepStrictEqual(envelopeOf(message(undefined), revision), { revision, meta: bare })
    assert.strictEqual(envelopeOf(message({}), "2027-01-01")?.revision, "2027-01-01")
  })
  it("has no envelope before 2026-07-28, and when it is none", () => {
    for (const header of [undefined, "2025-11-25", "2024-11-05", "2026-07-27", "latest", "2026-07-28x", ""]) {
      assert.isUndefined(envelopeOf(message({}), header), header)
    }
    const odd = { "io.modelcontextprotocol/protocolVersion": 20260728 }
    for (const body of [message(odd), [], null, "x", { params: [] }, { params: { _meta: "x" } }]) {
      assert.isUndefined(envelopeOf(body, undefined))
    }
  })
})
