import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gatewayServices, newServer, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const headerOf = (response: string, name: string) =>
  new RegExp(`^${name}: (.*)$`, "im").exec(response)?.[1]?.trim().toLowerCase() ?? ""

/** What a client in a page sends and reads (MCP up to 2026-07-28). */
const sent = ["authorization", "content-type", "accept", "last-event-id", "mcp-session-id", "mcp-protocol-version"]
const newer = ["mcp-method", "mcp-name"]
const readable = ["www-authenticate", "mcp-session-id", "mcp-protocol-version", "retry-after"]

layer(gatewayServices(), { excludeTestServices: true })("16 [RS] a client in a browser's page", (it) => {
  it.scoped("may ask for a server, its documents and its refusals from any origin, and read MCP's headers", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((_, res) => void res.writeHead(200, { "mcp-session-id": "1" }).end())
      const { host, path, slug, token } = yield* newServer({ machine })
      const document = "/.well-known/oauth-protected-resource"
      const places = [
        ["b", `${path}/mcp`],
        [host, "/sse"],
        [host, `${document}/mcp`],
        ["b", `${document}/s/${slug}`]
      ] as const
      for (const [name, target] of places) {
        const page = ["Host: " + name, "Origin: https://app.example"]
        const preflight = yield* rawRequest(port, "OPTIONS", target, [
          ...page,
          "Access-Control-Request-Method: POST",
          "Access-Control-Request-Headers: authorization, mcp-protocol-version, mcp-method"
        ])
        assert.strictEqual(statusOf(preflight), 204)
        assert.strictEqual(headerOf(preflight, "access-control-allow-origin"), "*")
        const allowed = headerOf(preflight, "access-control-allow-headers").split(", ")
        assert.includeMembers(allowed, [...sent, ...newer])
        assert.include(headerOf(preflight, "access-control-allow-methods"), "delete")
        for (const more of [[], [`Authorization: Bearer ${token}`], ["Authorization: Bearer x"]]) {
          const answer = yield* rawRequest(port, "GET", target, [...page, ...more])
          assert.include([200, 401], statusOf(answer))
          assert.strictEqual(headerOf(answer, "access-control-allow-origin"), "*")
          assert.includeMembers(headerOf(answer, "access-control-expose-headers").split(", "), readable)
          assert.strictEqual(headerOf(answer, "access-control-allow-credentials"), "")
        }
      }
    }))
})
