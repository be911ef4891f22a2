import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Option, Tracer } from "effect"
import { type IncomingHttpHeaders } from "node:http"
import { gatewayServices, newServer, startGateway, startUpstream } from "./support.ts"

const ended: Array<{ readonly span: Tracer.Span; readonly failed: boolean }> = []
let made = 0

/** A tracer as an exporter sets it, which keeps what has ended. */
const recorder = Tracer.make({
  context: (f) => f(),
  span: (name, parent, context, links, startTime, kind) => {
    const attributes = new Map<string, unknown>()
    const span: Tracer.Span = {
      _tag: "Span",
      name,
      spanId: (++made).toString(16).padStart(16, "0"),
      traceId: Option.match(parent, { onNone: () => "9".repeat(32), onSome: ({ traceId }) => traceId }),
      parent,
      context,
      status: { _tag: "Started", startTime },
      attributes,
      links,
      sampled: true,
      kind,
      end: (_, exit) => {
        // Services below have spans of their own.
        if (kind === "server") ended.push({ span, failed: Exit.isFailure(exit) })
      },
      attribute: (key, value) => void attributes.set(key, value),
      event: () => {},
      addLinks: () => {}
    }
    return span
  }
})

const client = "0af7651916cd43dd8448eb211c80319c"

describe("the gateway, where traces are collected", () => {
  const services = gatewayServices({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })
  layer(services, { excludeTestServices: true })((it) => {
    const asked = (headers: Record<string, string>, status = 200) =>
      Effect.gen(function*() {
        ended.length = 0
        const machine = yield* startUpstream(({ headers }, res) =>
          void res.writeHead(status).end(JSON.stringify(headers))
        )
        const { port } = yield* startGateway
        const server = yield* newServer({ machine })
        const got = yield* Effect.promise(async () => {
          const url = `http://127.0.0.1:${port}${server.path}/mcp?q=secret`
          const answer = await fetch(url, { headers: { authorization: `Bearer ${server.token}`, ...headers } })
          return await answer.json() as IncomingHttpHeaders
        })
        yield* Effect.promise(untilEnded)
        return got
      }).pipe(Effect.withTracer(recorder))

    const untilEnded = async () => {
      for (let tries = 0; tries < 30 && ended.length === 0; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }

    it.scoped("makes a span of each request, below the client's, and above the machine's", () =>
      Effect.gen(function*() {
        const got = yield* asked({ traceparent: `00-${client}-b7ad6b7169203331-01`, tracestate: "vendor=1" })
        assert.lengthOf(ended, 1)
        const { failed, span } = ended[0]!
        assert.strictEqual(span.name, "GET /s/{slug}")
        assert.deepInclude(Option.getOrThrow(span.parent), { traceId: client, spanId: "b7ad6b7169203331" })
        assert.deepStrictEqual(
          [...span.attributes],
          [["http.request.method", "GET"], ["http.route", "/s/{slug}"], ["http.response.status_code", 200]]
        )
        assert.isFalse(failed)
        assert.deepInclude(got, { traceparent: `00-${client}-${span.spanId}-01`, tracestate: "vendor=1" })
      }))

    it.scoped("begins a trace where the client sent none, or one that can't be read", () =>
      Effect.gen(function*() {
        const none = yield* asked({}, 503)
        assert.match(none["traceparent"] as string, /^00-9{32}-[\da-f]{16}-01$/)
        assert.isTrue(ended[0]?.failed)
        for (
          const traceparent of [
            `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
            `00-${client}-b7ad6b7169203331-01-more`,
            `ff-${client}-b7ad6b7169203331-01`,
            "nonsense"
          ]
        ) {
          const got = yield* asked({ traceparent, tracestate: "vendor=1" })
          assert.match(got["traceparent"] as string, /^00-9{32}-/)
          assert.isUndefined(got["tracestate"])
        }
      }))

    it.scoped("passes a trace on as it is that its beginner does not collect", () =>
      Effect.gen(function*() {
        const trace = { traceparent: `00-${client}-b7ad6b7169203331-00`, tracestate: "vendor=1" }
        assert.deepInclude(yield* asked(trace), trace)
        assert.deepStrictEqual(ended, [])
      }))
  })
})
