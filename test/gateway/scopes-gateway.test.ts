import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { assert, layer } from "@effect/vitest"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type RequestListener } from "node:http"
import { buffer } from "node:stream/consumers"
import { gatewayServices, newServer, raw, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const jsonOf = (response: string): unknown => JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4))
const headerOf = (response: string, name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(response)?.[1]?.trim()

/** A machine that counts what reaches it, and tells the bytes of the last body. */
const recorder = () => {
  const seen: Array<{ readonly req: IncomingMessage; readonly body: Buffer }> = []
  const listener: RequestListener = (req, res) =>
    void buffer(req).then((body) => {
      seen.push({ req, body })
      res.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  return { seen, listener }
}

const tokenFor = ({ audience, id }: { readonly audience: string; readonly id: string }, scope: string) =>
  Effect.gen(function*() {
    const { token } = yield* (yield* AccessTokens).mint({
      accountId: "a",
      audience,
      scope,
      clientId: "c",
      serverId: id
    })
    return token
  })

const send = (port: number, path: string, token: string, body: string | undefined, ...more: ReadonlyArray<string>) =>
  rawRequest(port, body === undefined ? "GET" : "POST", path, [
    "Host: b",
    `Authorization: Bearer ${token}`,
    ...(body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`]),
    ...more
  ], body)

const call = (name: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } })
const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

layer(gatewayServices(), { excludeTestServices: true })("14 [RS] too little scope at a hosted server", (it) => {
  it.scoped("is 403 insufficient_scope with all scopes needed plus those granted, and reaches no machine", () =>
    Effect.gen(function*() {
      const { listener, seen } = recorder()
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(listener) })
      const { host, path, slug } = server
      const token = yield* tokenFor(server, "mcp:read offline_access")
      const metadata = `resource_metadata="http://berth.test/.well-known/oauth-protected-resource/s/${slug}/mcp"`
      const refused = yield* send(port, `${path}/mcp`, token, call("wipe"), "Origin: https://app.example")
      assert.strictEqual(statusOf(refused), 403)
      assert.strictEqual(
        headerOf(refused, "www-authenticate"),
        `Bearer error="insufficient_scope", scope="mcp:read mcp:execute", ${metadata}`
      )
      assert.nestedPropertyVal(jsonOf(refused), "error.code", "FORBIDDEN")
      assert.strictEqual(headerOf(refused, "access-control-allow-origin"), "*")
      const byHost = yield* rawRequest(port, "GET", "/x", [
        `Host: ${host}`,
        `Authorization: Bearer ${yield* tokenFor(server, "offline_access")}`
      ])
      assert.strictEqual(
        headerOf(byHost, "www-authenticate"),
        `Bearer error="insufficient_scope", scope="mcp:read mcp:execute", resource_metadata="http://${host}/.well-known/oauth-protected-resource"`
      )
      assert.strictEqual(seen.length, 0)
    }))

  it.scoped("holds for batches, doubtful and unreadable bodies, and whatever Mcp-Method says", () =>
    Effect.gen(function*() {
      const { listener, seen } = recorder()
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(listener) })
      const { path } = server
      const token = yield* tokenFor(server, "mcp:read")
      const at = `${path}/message?sessionId=1`
      assert.strictEqual(statusOf(yield* send(port, at, token, `[${list},${call("x")}]`)), 403)
      assert.strictEqual(statusOf(yield* send(port, at, token, call("x"), "Mcp-Method: tools/list")), 400)
      assert.strictEqual(statusOf(yield* send(port, at, token, `{"method":"tools/list","Method":"tools/call"}`)), 400)
      assert.strictEqual(statusOf(yield* send(port, at, token, "tools/list")), 403)
      assert.strictEqual(statusOf(yield* send(port, at, token, list, "Content-Encoding: identity")), 403)
      for (const more of ["X-HTTP-Method-Override: DELETE", "X-Original-URL: /orders", "Content-Type: text/plain"]) {
        assert.strictEqual(statusOf(yield* send(port, at, token, list, more)), 403, more)
      }
      assert.strictEqual(statusOf(yield* send(port, at, token, list, "Connection: content-type")), 403)
      const large = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"${"x".repeat(1024 * 1024)}"}}`
      assert.strictEqual(statusOf(yield* send(port, at, token, large)), 403)
      const chunked = yield* rawRequest(
        port,
        "POST",
        at,
        [
          "Host: b",
          `Authorization: Bearer ${token}`,
          "Content-Type: application/json",
          "Transfer-Encoding: chunked"
        ],
        `5\r\n${call("x").slice(0, 5)}\r\n${(call("x").length - 5).toString(16)}\r\n${call("x").slice(5)}\r\n0\r\n\r\n`
      )
      assert.strictEqual(statusOf(chunked), 403)
      for (const method of ["DELETE", "PUT"]) {
        const response = yield* rawRequest(port, method, `${path}/items/1`, [
          "Host: b",
          `Authorization: Bearer ${token}`,
          "Mcp-Session-Id: 1",
          "Content-Length: 0"
        ])
        assert.strictEqual(statusOf(response), 403)
      }
      assert.strictEqual(seen.length, 0)
    }))
})

layer(gatewayServices(), { excludeTestServices: true })(
  "what is not MCP takes read and execute together",
  (it) => {
    const looksLikeMcp = [`{"method":"ping","amount":100}`, `{"result":1,"action":"delete"}`, list]
    const lacking = ["mcp:read", "mcp:write", "mcp:execute", "mcp:read mcp:write", "mcp:write mcp:execute"]

    it.scoped("whatever its JSON looks like, and in whatever HTTP method; it reaches no machine", () =>
      Effect.gen(function*() {
        const { listener, seen } = recorder()
        const { port } = yield* startGateway
        const server = yield* newServer({ machine: yield* startUpstream(listener) })
        const { host, path } = server
        for (const scope of lacking) {
          const token = yield* tokenFor(server, scope)
          const ask = (name: string, method: string, target: string, body: string, ...more: ReadonlyArray<string>) =>
            rawRequest(port, method, target, [
              `Host: ${name}`,
              `Authorization: Bearer ${token}`,
              "Content-Type: application/json",
              `Content-Length: ${body.length}`,
              ...more
            ], body)
          for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
            const body = looksLikeMcp[0]!
            const refused = yield* ask("b", method, `${path}/orders/1/refund`, body)
            assert.strictEqual(statusOf(refused), 403, `${scope} ${method}`)
            assert.match(headerOf(refused, "www-authenticate") ?? "", /scope="mcp:read (mcp:write )?mcp:execute"/)
          }
          for (const body of looksLikeMcp) {
            assert.strictEqual(statusOf(yield* ask(host, "POST", "/orders/1/refund", body)), 403, body)
            assert.strictEqual(statusOf(yield* ask(host, "PUT", "/mcp", body)), 403, body)
          }
          const stream = yield* ask(host, "GET", "/orders", "", "Accept: text/event-stream")
          assert.strictEqual(statusOf(stream), 403, scope)
        }
        assert.strictEqual(seen.length, 0)
        const both = yield* tokenFor(server, "mcp:execute mcp:read")
        assert.strictEqual(statusOf(yield* send(port, `${path}/orders/1/refund`, both, looksLikeMcp[0])), 200)
        assert.strictEqual(seen.length, 1)
      }))

    it.scoped("refused before its body is read", () =>
      Effect.gen(function*() {
        const { port } = yield* startGateway
        const server = yield* newServer({ machine: yield* startUpstream(recorder().listener) })
        const { path } = server
        const token = yield* tokenFor(server, "mcp:read")
        const head = [`PUT ${path}/orders/1 HTTP/1.1`, "Host: b", `Authorization: Bearer ${token}`, "Content-Length: 9"]
        const answer = yield* raw(port, `${head.join("\r\n")}\r\n\r\n`, (got) => got.includes("FORBIDDEN"))
        assert.strictEqual(statusOf(answer), 403)
      }))
  }
)

layer(gatewayServices(), { excludeTestServices: true })("a token that may do some of MCP", (it) => {
  it.scoped("has its requests streamed on to the byte, whatever their framing", () =>
    Effect.gen(function*() {
      const { listener, seen } = recorder()
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(listener) })
      const { path } = server
      const token = yield* tokenFor(server, "mcp:read")
      const odd = ` { "method" : "tools\\/list" ,"jsonrpc":"2.0", "id": 1e0, "params":{"x":"${
        "é".repeat(100_000)
      }"} }\n`
      for (const body of [list, Buffer.from(odd).toString("latin1")]) {
        seen.length = 0
        assert.strictEqual(statusOf(yield* send(port, `${path}/mcp`, token, body)), 200)
        assert.strictEqual(seen[0]?.body.toString("latin1"), body)
        assert.strictEqual(seen[0]?.req.headers["content-length"], String(body.length))
        const waiting = yield* send(port, `${path}/mcp`, token, body, "Expect: 100-continue")
        assert.match(waiting, /^HTTP\/1\.1 100 /)
        assert.include(waiting, "HTTP/1.1 200")
      }
      seen.length = 0
      const chunked = yield* rawRequest(port, "POST", `${path}/mcp`, [
        "Host: b",
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked"
      ], `${list.length.toString(16)}\r\n${list}\r\n0\r\n\r\n`)
      assert.strictEqual(statusOf(chunked), 200)
      assert.strictEqual(seen[0]?.body.toString(), list)
      // It was read whole, and so its length is known.
      assert.strictEqual(seen[0]?.req.headers["content-length"], String(list.length))
    }))

  it.scoped("with read and execute is not looked into: a body passes before it is complete", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((req, res) => {
        req.once("data", () => res.end("early"))
      })
      const server = yield* newServer({ machine })
      const { path } = server
      const head = [
        `POST ${path}/mcp HTTP/1.1`,
        "Host: b",
        `Authorization: Bearer ${yield* tokenFor(server, "mcp:execute mcp:read")}`,
        "Content-Type: application/json",
        "Content-Length: 100000"
      ]
      const early = yield* raw(port, `${head.join("\r\n")}\r\n\r\nnot json`, (text) => text.includes("early"))
      assert.strictEqual(statusOf(early), 200)
    }))

  it.scoped("in byoa mode is never looked into", () =>
    Effect.gen(function*() {
      const { listener, seen } = recorder()
      const { port } = yield* startGateway
      const { path } = yield* newServer({
        machine: yield* startUpstream(listener),
        byoa: {
          issuer: "https://i",
          jwksUri: "https://i/j",
          authorizationEndpoint: "https://i/a",
          tokenEndpoint: "https://i/t"
        }
      })
      assert.strictEqual(statusOf(yield* send(port, `${path}/mcp`, "whatever", call("wipe"))), 200)
      assert.strictEqual(seen[0]?.body.toString(), call("wipe"))
    }))
})

const tools = () => {
  const server = new McpServer({ name: "tools", version: "1" })
  const done = () => ({ content: [{ type: "text" as const, text: "done" }] })
  server.registerTool("wipe", { annotations: { readOnlyHint: false } }, done)
  server.registerTool("look", { annotations: { readOnlyHint: true } }, done)
  server.registerTool("plain", {}, done)
  return server
}

/** A server as people write them with the SDK: sessions on /mcp, the older transport on /sse and /message. */
const sdkServer = (asked: Array<string>): RequestListener => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const streams = new Map<string, SSEServerTransport>()
  const handle = async (req: IncomingMessage, res: Parameters<RequestListener>[1]) => {
    const url = new URL(req.url ?? "/", "http://x")
    asked.push(`${req.method} ${url.pathname} ${String(req.headers["x-berth-gateway-token"])}`)
    if (url.pathname === "/sse") {
      const transport = new SSEServerTransport("/message", res)
      streams.set(transport.sessionId, transport)
      return tools().connect(transport)
    }
    if (url.pathname === "/message") {
      return streams.get(url.searchParams.get("sessionId") ?? "")?.handlePostMessage(req, res) ??
        res.writeHead(404).end()
    }
    const id = req.headers["mcp-session-id"]
    const known = typeof id === "string" ? sessions.get(id) : undefined
    if (known !== undefined) return known.handleRequest(req, res)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport)
    })
    await tools().connect(transport as Transport)
    return transport.handleRequest(req, res)
  }
  return (req, res) => void handle(req, res)
}

layer(gatewayServices(), { excludeTestServices: true })("mcp:write without mcp:execute", (it) => {
  it.scoped("calls the tools that the machine itself marks state-changing, asked once, and no others", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(sdkServer(asked)) })
      const { path } = server
      const token = yield* tokenFor(server, "mcp:write")
      const accept = "Accept: application/json, text/event-stream"
      const initialize = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }
      })
      const begun = yield* send(port, `${path}/mcp`, token, initialize, accept)
      const session = headerOf(begun, "mcp-session-id")
      assert.isDefined(session, begun)
      const ask = (name: string) => send(port, `${path}/mcp`, token, call(name), accept, `Mcp-Session-Id: ${session}`)
      for (const name of ["wipe", "look", "plain", "unknown", "wipe"]) {
        const response = yield* ask(name)
        assert.strictEqual(statusOf(response), name === "wipe" ? 200 : 403, `${name}: ${response}`)
      }
      const refused = yield* ask("look")
      assert.include(headerOf(refused, "www-authenticate"), `scope="mcp:write mcp:execute"`)
      assert.strictEqual(asked.filter((line) => line.startsWith("DELETE")).length, 1, "one session, ended")
    }))

  it.scoped("does so in the older transport too", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(sdkServer(asked)) })
      const { path } = server
      const token = yield* tokenFor(server, "mcp:write")
      // The session is unknown to the machine: 404 is its answer, 403 would be the gateway's.
      const at = `${path}/message?sessionId=nobody`
      assert.strictEqual(statusOf(yield* send(port, at, token, call("wipe"))), 404)
      assert.strictEqual(statusOf(yield* send(port, at, token, call("look"))), 403)
      assert.strictEqual(asked.filter((line) => line.startsWith("GET /sse")).length, 1)
    }))

  it.scoped("calls nothing of a machine that does not tell its tools", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((_, res) => void res.writeHead(500).end())
      const server = yield* newServer({ machine })
      const { path } = server
      const token = yield* tokenFor(server, "mcp:write")
      assert.strictEqual(statusOf(yield* send(port, `${path}/mcp`, token, call("wipe"))), 403)
    }))
})
