import { interruptedCallEvents } from "#http/gateway/interrupted-calls.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { assert, describe, it, layer } from "@effect/vitest"
import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect, FastCheck as fc, Fiber } from "effect"
import { createParser, type EventSourceMessage } from "eventsource-parser"
import { once } from "node:events"
import { type RequestListener, type ServerResponse } from "node:http"
import { connectMcp } from "../support/mcp.ts"
import { gatewayServices, newServer, raw, startGateway, startUpstream, statusOf } from "./support.ts"

const said = "The server restarted while the call was running, so its outcome is unknown; try again"
const request = (id: unknown, method = "tools/call") => ({ jsonrpc: "2.0", id, method, params: {} })
const errorOf = (id: unknown) => ({ jsonrpc: "2.0", id, error: { code: -32000, message: said } })
const lastWords = (body: unknown) => interruptedCallEvents([Buffer.from(JSON.stringify(body))])

const eventsOf = (stream: string) => {
  const events: Array<EventSourceMessage> = []
  const parser = createParser({ onEvent: (event) => void events.push(event) })
  parser.feed(stream)
  return events
}
const messagesOf = (stream: string) =>
  eventsOf(stream).filter(({ event = "message" }) => event === "message").map(({ data }) => JSON.parse(data))

describe("the last words of an event stream that broke", () => {
  it("are an error for each request that it would have answered", () => {
    for (const id of [1, 0, -1, "call-7", "", "é\n"]) {
      assert.deepStrictEqual(messagesOf(lastWords(request(id)) ?? ""), [errorOf(id)])
    }
    const batch = [request(1), { jsonrpc: "2.0", method: "notifications/x" }, request("2")]
    assert.deepStrictEqual(messagesOf(lastWords(batch) ?? ""), [errorOf(1), errorOf("2")])
  })

  it("are none where there was no request, or none that can be read", () => {
    const bodies = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { id: 1, method: "tools/call" },
      { model: "x", stream: true },
      request(null),
      request({}),
      [],
      null,
      "x"
    ]
    for (const body of bodies) assert.isUndefined(lastWords(body), JSON.stringify(body))
    for (const text of ["", "{", "\u001f\u008b"]) {
      assert.isUndefined(interruptedCallEvents([Buffer.from(text, "latin1")]))
    }
    assert.isUndefined(interruptedCallEvents([]))
  })

  it("are heard wherever the stream was cut, and what was cut is not", () => {
    const line = fc.constantFrom(
      "data: {\"jsonrpc\":\"2.0\"}",
      "event: message",
      ": keep-alive",
      "id: 12",
      "retry: 9",
      ""
    )
    const stream = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n", "\r"))
      .map(([lines, end]) => lines.map((text) => text + end).join(""))
    fc.assert(
      fc.property(stream, fc.nat(), (whole, at) => {
        const cut = whole.slice(0, at % (whole.length + 1))
        // Some parsers wait for the rest of a line's end.
        const before = eventsOf(cut.endsWith("\r") ? `${cut}\n` : cut).filter(({ event = "message", data }) =>
          event === "message" && data !== ""
        )
        const after = eventsOf(cut + lastWords(request(1))).filter(({ event = "message" }) => event === "message")
        assert.deepStrictEqual(JSON.parse(after.at(-1)?.data ?? ""), errorOf(1))
        assert.strictEqual(after.length - 1, before.length)
      }),
      { numRuns: 500 }
    )
  })
})

/** A server with one tool, which says that it has begun, and never ends. */
const waiting = () => {
  const calls: Array<0> = []
  const listener = (enableJsonResponse: boolean): RequestListener => (req, res) => {
    if (req.method !== "POST") return void res.writeHead(405).end()
    const server = new McpServer({ name: "waiting", version: "1" }, { capabilities: { logging: {} } })
    server.registerTool("wait", {}, async ({ sendNotification }) => {
      calls.push(0)
      await sendNotification({ method: "notifications/message", params: { level: "info", data: "begun" } })
      return new Promise(() => undefined)
    })
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse })
    void server.connect(transport as Transport).then(() => transport.handleRequest(req, res))
  }
  return { calls, listener }
}

layer(gatewayServices(), { excludeTestServices: true })("a call whose machine restarts", (it) => {
  const until = async (holds: () => boolean, what: string) => {
    for (let i = 0; i < 300 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.isTrue(holds(), what)
  }

  /** A call that is under way at a machine which then goes away with every connection. */
  const broken = Effect.fnUntraced(function*(json: boolean, scope?: string) {
    const { calls, listener } = waiting()
    const open = new Set<ServerResponse>()
    const machine = yield* startUpstream((req, res) => {
      open.add(res)
      res.once("close", () => open.delete(res))
      listener(json)(req, res)
    })
    const { port } = yield* startGateway
    const { audience, id, path, token } = yield* newServer({ machine })
    const tokens = yield* AccessTokens
    const given = scope === undefined
      ? token
      : (yield* tokens.mint({ accountId: "a", audience, scope, clientId: "c", serverId: id })).token
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => connectMcp(`http://127.0.0.1:${port}${path}`, { token: given })),
      (client: Client) => Effect.promise(() => client.close())
    )
    const errors: Array<Error> = []
    client.onerror = (error) => void errors.push(error)
    let begun = false
    client.fallbackNotificationHandler = async () => void (begun = true)
    const call = client.callTool({ name: "wait" }).then(() => assert.fail("it was answered"), (error: unknown) => error)
    yield* Effect.promise(() => until(() => json ? calls.length === 1 : begun, "the call is under way"))
    const start = performance.now()
    for (const res of open) res.destroy()
    const error = yield* Effect.promise(() => call)
    assert.isBelow(performance.now() - start, 3_000, "it does not wait for a time-out")
    return { error, errors }
  })

  for (const scope of [undefined, "mcp:execute"]) {
    it.scoped(`ends with a JSON-RPC error in its event stream (${scope ?? "every scope"})`, () =>
      Effect.gen(function*() {
        const { error, errors } = yield* broken(false, scope)
        assert.deepInclude(error, { code: -32000, message: `MCP error -32000: ${said}` })
        assert.deepStrictEqual(errors, [])
      }))
  }

  it.scoped("ends with a 502 when nothing was answered yet", () =>
    Effect.gen(function*() {
      const { error } = yield* broken(true)
      assert.include(String(error), "BAD_GATEWAY")
      assert.include(String(error), "may have restarted")
    }))

  /** What a client gets to read of a stream that begins like this, and is then cut. */
  const streamed = Effect.fnUntraced(function*(
    method: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    begin = ": hello\n\n"
  ) {
    const machine = yield* startUpstream((req, res) =>
      void req.resume().on("end", () => {
        res.writeHead(200, { "Content-Type": "text/event-stream", ...headers })
        res.write(begin, () => setTimeout(() => res.destroy(), 20))
      })
    )
    const { port } = yield* startGateway
    const { path, token } = yield* newServer({ machine })
    const head = [`${method} ${path}/mcp HTTP/1.1`, "Host: b", `Authorization: Bearer ${token}`, "Connection: close"]
    const length = body === "" ? [] : [`Content-Length: ${body.length}`]
    const response = yield* raw(port, `${[...head, ...length].join("\r\n")}\r\n\r\n${body}`)
    assert.strictEqual(statusOf(response), 200)
    return response
  })
  const endsWell = (response: string) => response.endsWith("0\r\n\r\n")
  const call = JSON.stringify(request(1))

  it.scoped("may have been cut in the middle of an event, which nobody hears of", () =>
    Effect.gen(function*() {
      const response = yield* streamed("POST", call, {}, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"res")
      assert.isTrue(endsWell(response))
      const stream = response.slice(response.indexOf("\r\n\r\n") + 4).replace(
        /^[0-9a-f]+\r\n|\r\n(?=[0-9a-f]+\r\n)/gm,
        ""
      )
      assert.deepStrictEqual(messagesOf(stream), [errorOf(1)])
    }))

  it.scoped("leaves a stream that only listens to its end", () =>
    Effect.gen(function*() {
      const response = yield* streamed("GET", "", {})
      assert.isTrue(endsWell(response))
      assert.notInclude(response, "-32000")
    }))

  it.scoped("is broken off where nothing can be said: encoded, of a given length, or of a body that was not kept", () =>
    Effect.gen(function*() {
      const large = JSON.stringify({ ...request(1), params: { x: "x".repeat(200_000) } })
      const streams = [
        yield* streamed("POST", call, { "Content-Encoding": "gzip" }),
        yield* streamed("POST", call, { "Content-Length": "1000" }),
        yield* streamed("POST", "{\"model\":\"x\"}", {}),
        yield* streamed("POST", large, {})
      ]
      for (const response of streams) {
        assert.isFalse(endsWell(response), response)
        assert.notInclude(response, "-32000")
      }
    }))

  it.scoped("is told so by a platform that stops, when it has not ended in time", () =>
    Effect.gen(function*() {
      const open: Array<ServerResponse> = []
      const machine = yield* startUpstream((req, res) => {
        req.resume()
        res.writeHead(200, { "Content-Type": "text/event-stream" }).write(": hello\n\n")
        open.push(res)
      })
      const { gateway, port } = yield* startGateway
      const { path, token } = yield* newServer({ machine })
      const head = [`POST ${path}/mcp HTTP/1.1`, "Host: b", `Authorization: Bearer ${token}`]
      const text = `${head.join("\r\n")}\r\nContent-Length: ${call.length}\r\n\r\n${call}`
      const fiber = yield* Effect.fork(raw(port, text, endsWell))
      yield* Effect.promise(() => until(() => open.length === 1, "a call at the machine"))
      const gone = once(open[0]!, "close")
      yield* gateway.drain(200)
      yield* Effect.promise(() => gone)
      assert.include(yield* Fiber.join(fiber), JSON.stringify(errorOf(1)))
    }))
})
