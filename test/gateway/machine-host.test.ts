import { assert, layer } from "@effect/vitest"
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { gatewayServices, newServer, raw, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }
})

/** A server as the SDK's own helper makes it: it answers to localhost, and to nobody else (DNS rebinding). */
const expressServer = () => {
  const app = createMcpExpressApp()
  app.post("/mcp", async (req: IncomingMessage & { readonly body: unknown }, res: ServerResponse) => {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    await new McpServer({ name: "express", version: "1" }).connect(transport as Transport)
    await transport.handleRequest(req, res, req.body)
  })
  return app
}

const headerOf = (response: string, name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(response)?.[1]?.trim()

layer(gatewayServices(), { excludeTestServices: true })("a machine is addressed as localhost and its port", (it) => {
  const forms = ({ host, path }: { readonly host: string; readonly path: string }) =>
    [[host, ""], [`${host}:8787`, ""], ["berth.test", path], ["elsewhere.example", path]] as const

  const serving = (listener: RequestListener) =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(listener) })
      const get = (name: string, target: string, ...more: ReadonlyArray<string>) =>
        rawRequest(port, "GET", target, [`Host: ${name}`, `Authorization: Bearer ${server.token}`, ...more])
      return { ...server, get, port }
    })

  it.scoped("so that a server which guards against DNS rebinding serves, whatever its clients call it", () =>
    Effect.gen(function*() {
      const { port, token, ...server } = yield* serving(expressServer())
      for (const [name, prefix] of forms(server)) {
        const answer = yield* rawRequest(port, "POST", `${prefix}/mcp`, [
          `Host: ${name}`,
          `Authorization: Bearer ${token}`,
          "Content-Type: application/json",
          "Accept: application/json, text/event-stream",
          `Content-Length: ${initialize.length}`
        ], initialize)
        assert.strictEqual(statusOf(answer), 200, `${name}${prefix}: ${answer}`)
        assert.include(answer, `"serverInfo":{"name":"express"`)
      }
    }))

  it.scoped("and told its clients' name beside it", () =>
    Effect.gen(function*() {
      const seen: Array<IncomingMessage["headers"]> = []
      const { get, ...server } = yield* serving((req, res) => {
        seen.push(req.headers)
        res.end()
      })
      for (const [name, prefix] of forms(server)) {
        yield* get(name, `${prefix}/x`)
        assert.deepInclude(seen.pop(), {
          host: "localhost:8080",
          "x-forwarded-host": name,
          "x-forwarded-proto": "http"
        })
      }
    }))

  it.scoped("so that its redirects to itself lead clients where it is for them", () =>
    Effect.gen(function*() {
      const { get, ...server } = yield* serving((req, res) => {
        const at = req.url === "/own"
          ? `http://${req.headers.host}/mcp/`
          : req.url === "/path"
          ? "/mcp/"
          : req.url?.slice(1)
        res.writeHead(307, { Location: at, "Content-Location": at }).end()
      })
      for (const [name, prefix] of forms(server)) {
        for (const where of ["own", "path"]) {
          const answer = yield* get(name, `${prefix}/${where}`)
          assert.strictEqual(headerOf(answer, "location"), `${prefix}/mcp/`)
          assert.strictEqual(headerOf(answer, "content-location"), `${prefix}/mcp/`)
        }
        const away = yield* get(name, `${prefix}/https://elsewhere.test/x`)
        assert.strictEqual(headerOf(away, "location"), "https://elsewhere.test/x")
      }
    }))

  it.scoped("so that a challenge of its own names metadata that its clients can read", () =>
    Effect.gen(function*() {
      const metadata = "/.well-known/oauth-protected-resource"
      const { get, ...server } = yield* serving((req, res) => {
        const challenge = `Bearer resource_metadata="http://${req.headers.host}${metadata}"`
        res.writeHead(401, { "WWW-Authenticate": challenge }).end()
      })
      for (const [name, prefix] of forms(server)) {
        const answer = yield* get(name, `${prefix}/mcp`)
        assert.strictEqual(
          headerOf(answer, "www-authenticate"),
          `Bearer resource_metadata="http://${name}${metadata}${prefix}"`
        )
      }
    }))

  it.scoped("so that the legacy transport's endpoint is found, by whichever name the machine calls itself", () =>
    Effect.gen(function*() {
      const { port, token, ...server } = yield* serving((req, res) => {
        const { host, "x-forwarded-host": outer } = req.headers
        const own = req.url?.endsWith("outer") === true ? outer : host
        res.writeHead(200, { "Content-Type": "text/event-stream" })
        res.write(`event: endpoint\ndata: http://${own}/message?sessionId=1\n\n`)
      })
      for (const [name, prefix] of forms(server)) {
        for (const by of ["inner", "outer"]) {
          const head = [`GET ${prefix}/sse?${by} HTTP/1.1`, `Host: ${name}`, `Authorization: Bearer ${token}`]
          const stream = yield* raw(port, `${head.join("\r\n")}\r\n\r\n`, (got) => /sessionId=1.*\n\n/.test(got))
          const told = /^data: (.*)&berth-version=\d+$/m.exec(stream)?.[1] ?? ""
          assert.strictEqual(new URL(told, `http://${name}/`).href, `http://${name}${prefix}/message?sessionId=1`)
        }
      }
    }))
})
