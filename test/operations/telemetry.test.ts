import { createServer, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { afterAll, describe, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { freePort } from "../support/http.ts"

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number }
}
interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyArray<Attribute>
}

/** A collector of OpenTelemetry, as far as it takes JSON over HTTP (OTLP 1.0, "OTLP/HTTP"). */
const collector = async () => {
  const port = await freePort()
  const received: Array<{ readonly path: string; readonly body: unknown }> = []
  const server = createServer((req: IncomingMessage, res) =>
    void text(req).then((body) => {
      received.push({ path: req.url ?? "", body: JSON.parse(body) as unknown })
      res.setHeader("content-type", "application/json").end("{}")
    })
  )
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${port}`, received, close: () => server.close() }
}

/** Every object in a document that has the field. */
const having = <A>(document: unknown, field: string): ReadonlyArray<A> => {
  if (typeof document !== "object" || document === null) return []
  const within = Object.values(document).flatMap((value) => having<A>(value, field))
  return field in document ? [document as A, ...within] : within
}

const values = (attributes: ReadonlyArray<Attribute>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))

const running: Array<Berth> = []
const start = async (variables: Readonly<Record<string, string>>) => {
  const berth = await new Berth().start({ variables })
  running.push(berth)
  return berth
}
afterAll(() => Promise.all(running.map((berth) => berth.stop())))

const trace = "0af7651916cd43dd8448eb211c80319c"

describe("telemetry", () => {
  it("goes to the endpoint that is set: a span a request, its statements below it, and metrics", async () => {
    const { close, received, url } = await collector()
    const berth = await new Berth().start({ variables: { OTEL_EXPORTER_OTLP_ENDPOINT: url } })
    const owner = await berth.signUp()
    const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01`, authorization: `Bearer ${owner.token}` }
    expect((await berth.request("GET", "/v1/projects?limit=7", { headers })).status).toBe(200)
    expect((await berth.request("GET", "/v1/none")).status).toBe(404)
    await berth.stop()
    close()

    const of = (path: string) => received.filter((one) => one.path === path).map(({ body }) => body)
    const spans = having<Span>(of("/v1/traces"), "spanId").filter(({ name }) => name !== undefined)
    const request = spans.find(({ name }) => name === "GET /v1/projects")
    expect(request).toMatchObject({ traceId: trace, parentSpanId: "b7ad6b7169203331" })
    expect(values(request?.attributes ?? [])).toMatchObject({
      "http.request.method": "GET",
      "http.route": "/v1/projects",
      "http.response.status_code": 200,
      "url.path": "/v1/projects"
    })
    expect(spans.filter(({ name, traceId }) => name === "sql.execute" && traceId === trace).length).toBeGreaterThan(0)
    expect(JSON.stringify(received)).not.toContain(owner.token)
    expect(JSON.stringify(received)).not.toContain("limit=7")

    const names = having<{ readonly name: string }>(of("/v1/metrics"), "histogram").map(({ name }) => name)
    expect(names).toContain("http.server.request.duration")
    for (const name of ["/v1/projects", "berth.jobs.runs", "db.client.connection.count"]) {
      expect(JSON.stringify(of("/v1/metrics"))).toContain(name)
    }
    expect(JSON.stringify(of("/v1/metrics"))).not.toContain("/v1/none")
  })

  it("is nothing where no endpoint is set, and an endpoint that is away holds nobody up", async () => {
    const berth = await start({})
    const away = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` })
    for (const one of [berth, away]) expect((await one.request("GET", "/v1/health")).status).toBe(200)
  })
})

describe("the access log", () => {
  it("has a line a request when it is asked for, without the query", async () => {
    const berth = await start({ ACCESS_LOG: "on", LOG_LEVEL: "INFO" })
    await berth.request("GET", "/v1/directory?search=secret")
    await berth.request("GET", "/s/no-such-server/mcp")
    await expect.poll(() => berth.logged.filter((line) => / GET \//.test(line))).toEqual([
      expect.stringMatching(/^\S+ GET \/v1\/directory 200 .*milliseconds=\d+/),
      expect.stringMatching(/^\S+ GET \/s\/no-such-server\/mcp 404 .*milliseconds=\d+/)
    ])
    expect(berth.logged.join("\n")).not.toContain("secret")
  })

  it("is silent unless it is asked for", async () => {
    const berth = await start({ LOG_LEVEL: "INFO" })
    await berth.request("GET", "/v1/directory")
    expect(berth.logged.filter((line) => / GET \//.test(line))).toEqual([])
  })
})
