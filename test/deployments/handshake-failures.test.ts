import { type RequestListener } from "node:http"
import { describe, expect, it } from "vitest"
import { answering, type Options, tryWith } from "./support/mcp-servers.ts"

describe("an MCP handshake that fails", () => {
  const status = (code: number): RequestListener => (_, res) => void res.writeHead(code).end("no")
  const html: RequestListener = (_, res) => void res.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi</h1>")
  it.each<[string, RequestListener, string, Options?]>([
    ["404 on both", status(404), "no MCP server was found: /mcp answered with status 404, /sse with 404; serve MCP at"],
    ["403", status(403), "/mcp (initialize) answered with status 403; requests come with Host: localhost:8080"],
    [
      "a refused Host, as the SDK's guard answers",
      (_, res) =>
        void res.writeHead(403).end(
          "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\"message\":\"Invalid Host: x\"},\"id\":null}"
        ),
      "/mcp (initialize) answered with status 403 and refused the Host; requests come with Host: localhost:8080"
    ],
    ["a misdirected request", status(421), "status 421 and refused the Host"],
    ["another's bad request", status(400), "answered with status 400; the server's log may say why"],
    ["401", status(401), "accept the platform's access tokens"],
    ["401 of another issuer", status(401), "a token of https://id.example, which the platform has none of", {
      token: undefined,
      foreignIssuer: "https://id.example"
    }],
    ["500", status(500), "status 500; the server's log may say why"],
    ["a status that ends no process of ours", status(999), "the answer has status 999, which HTTP does not have"],
    ["a page", html, "answered 200 with text/html that is not a JSON-RPC answer"],
    ["dropped connections", (req) => void req.socket.destroy(), "gave no usable answer: socket hang up"],
    ["no HTTP", (req) => void req.socket.end("\u0000\u0001 what\r\n\r\n"), "it does not speak HTTP"],
    [
      "an error",
      (_, res) =>
        void res.end(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"no\\u0000 \\u001b[2Jdb\"}}"
        ),
      "the JSON-RPC error -32603, no [2Jdb;"
    ],
    [
      "a revision that is none",
      (_, res) => void res.end("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"<b>\"}}"),
      "without a protocolVersion"
    ],
    ["another's id", (_, res) => void res.end("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"), "not a JSON-RPC answer"],
    [
      "an odd content type",
      (_, res) => void res.writeHead(200, { "content-type": "<script>" }).end("x"),
      "no content type"
    ]
  ])("names the problem: %s", async (_, listener, problem, options = {}) => {
    const report = await tryWith(listener, options)
    expect(report).toMatchObject({ ok: false, transport: null, revision: null, toolCount: 0, tools: [] })
    expect(report.problem).toContain(problem)

    expect(report.problem).not.toMatch(/[\u0000-\u001f]/)
  })

  it("keeps what it learnt before tools/list failed", async () => {
    for (const list of [{}, { tools: 7 }, null, { tools: {} }]) {
      expect(await tryWith(answering(() => list)), JSON.stringify(list)).toMatchObject({
        ok: false,
        transport: "streamable-http",
        revision: "2025-06-18",
        problem: expect.stringContaining("/mcp (tools/list) answered without a list of tools")
      })
    }
  })

  it("is over in time with a machine that is silent, that drips, that floods, and that streams without an end", async () => {
    const drip = (head: string, type: string): RequestListener => (_, res) => {
      res.writeHead(200, { "content-type": type })
      res.write(head)
      const timer = setInterval(() => res.write(" "), 5)
      res.on("close", () => clearInterval(timer))
    }
    const flood = (type: string, part: string): RequestListener => (_, res) => {
      res.writeHead(200, { "content-type": type })
      const more = () => {
        while (!res.destroyed && res.write(part));
      }
      res.on("drain", more)
      more()
    }
    const hostile: ReadonlyArray<readonly [string, RequestListener, string]> = [
      ["silent", () => undefined, "did not answer within 1 seconds"],
      ["drips JSON", drip("{", "application/json"), "did not answer within 1 seconds"],
      ["drips events", drip("data: ", "text/event-stream"), "did not answer within 1 seconds"],
      ["floods JSON", flood("application/json", "[".repeat(65_536)), "larger than 2097152 bytes"],
      ["floods events", flood("text/event-stream", "data: {}\n\n".repeat(5_000)), "more than 1000 events"],
      ["floods line ends", flood("text/event-stream", "\r".repeat(65_536)), "larger than 2097152 bytes"],
      ["floods one line", flood("text/event-stream", `data: ${"x".repeat(65_536)}`), "larger than 2097152 bytes"]
    ]
    for (const [name, listener, problem] of hostile) {
      const report = await tryWith(listener, { seconds: 1 })
      expect(report.problem, name).toContain(problem)
      expect(report.took, name).toBeLessThan(2_500)
    }
  })

  it("ends at once when it is interrupted", async () => {
    const controller = new AbortController()
    const { took } = await tryWith(() => controller.abort(), { seconds: 30, interrupted: controller.signal })
    expect(took).toBeLessThan(2_000)
  })
})
