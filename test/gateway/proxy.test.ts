import { RateLimit } from "#src/shared/RateLimit.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import {
  FakeMachines,
  gatewayServices,
  newServer,
  rawRequest,
  startGateway,
  startUpstream,
  statusOf
} from "./support.ts"

layer(gatewayServices(), { excludeTestServices: true })("the gateway", (it) => {
  it.scoped("carries method, path, query, headers and body to the machine and the answer back", () =>
    Effect.gen(function*() {
      const machine = yield* startUpstream((req, res) => {
        let body = ""
        req.on("data", (chunk) => body += chunk).on("end", () => {
          res.writeHead(207, "Odd", {
            "X-Method": req.method!,
            "X-Path": req.url!,
            "X-Custom": req.headers["x-custom"]
          })
          res.end(body.toUpperCase())
        })
      })
      const { port } = yield* startGateway
      const server = yield* newServer({ machine })
      const response = yield* Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}${server.path}/a%20b/?q=1&q=%2F`, {
          method: "PUT",
          headers: { authorization: `Bearer ${server.token}`, "x-custom": "kept" },
          body: "payload"
        })
      )
      assert.strictEqual(response.status, 207)
      assert.strictEqual(response.statusText, "Odd")
      assert.strictEqual(response.headers.get("x-method"), "PUT")
      assert.strictEqual(response.headers.get("x-path"), "/a%20b/?q=1&q=%2F")
      assert.strictEqual(response.headers.get("x-custom"), "kept")
      assert.strictEqual(yield* Effect.promise(() => response.text()), "PAYLOAD")
    }))

  it.scoped("passes a trace on as the client sent it (W3C Trace Context)", () =>
    Effect.gen(function*() {
      const machine = yield* startUpstream(({ headers }, res) => void res.end(JSON.stringify(headers)))
      const { port } = yield* startGateway
      const server = yield* newServer({ machine })
      const trace = {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        tracestate: "vendor=1",
        baggage: "user=2"
      }
      const headers = { authorization: `Bearer ${server.token}`, ...trace }
      const got = yield* Effect.promise(async () =>
        await (await fetch(`http://127.0.0.1:${port}${server.path}/`, { headers })).json() as object
      )
      assert.deepInclude(got, trace)
    }))

  it.scoped("says with every answer of its own how often one may ask, and stops guessing, not those with a token", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { path, token } = yield* newServer({ machine: yield* startUpstream((_, res) => void res.end("ok")) })
      const ask = (at: string, ...headers: ReadonlyArray<string>) =>
        rawRequest(port, "GET", at, ["Host: b", ...headers])
      const first = yield* ask("/s/none", "X-Request-Id: mine-12345")
      assert.match(first, /^x-ratelimit-limit: 100\r$/im)
      assert.match(first, /^x-ratelimit-remaining: \d+\r$/im)
      assert.match(first, /^x-ratelimit-reset: \d+\r$/im)
      assert.match(first, /^x-request-id: mine-12345\r$/im)
      const guesses = yield* Effect.all(Array.from({ length: 110 }, (_, i) => ask(`/s/guess-${i}`)), {
        concurrency: 20
      })
      const refused = guesses.filter((response) => statusOf(response) === 429)
      assert.isAtLeast(refused.length, 10)
      assert.include(refused[0], "RATE_LIMITED")
      assert.match(refused[0] ?? "", /^retry-after: \d+\r$/im)
      const allowed = yield* ask(path, `Authorization: Bearer ${token}`)
      assert.strictEqual(statusOf(allowed), 200)
      assert.notMatch(allowed, /x-ratelimit|x-request-id/i)
    }))

  it.scoped("leads a client to a token in a roomier bucket than guesses have, bounded all the same", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { path } = yield* newServer({ machine: yield* startUpstream((_, res) => void res.end("ok")) })
      const ask = (at: string) => rawRequest(port, "GET", at, ["Host: b"])
      const document = `/.well-known/oauth-protected-resource${path}`
      const challenge = yield* ask(path)
      assert.strictEqual(statusOf(challenge), 401)
      assert.match(challenge, /^x-ratelimit-limit: 1000\r$/im)
      assert.strictEqual(statusOf(yield* ask(document)), 200)
      const { consume } = yield* RateLimit
      const bucket = { key: "discovery:127.0.0.1", limit: 1_000, window: "1 minute" } as const
      yield* Effect.replicateEffect(consume(bucket), 1_000, { discard: true })
      for (const at of [path, document]) assert.strictEqual(statusOf(yield* ask(at)), 429)
    }))

  it.scoped("says of a server without a machine what its caller can expect", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { addresses } = yield* FakeMachines
      const { port } = yield* startGateway
      const { id, path, token } = yield* newServer({ machine: { _tag: "Unix", path: "/a" } })
      addresses.clear()
      const says = {
        provisioning: "The server is being brought back; try again shortly",
        stopped: "The server is stopped; its owner can start it",
        running: "The server is not running; try again shortly",
        error: "The server has failed; its owner finds why in its log"
      }
      for (const [status, message] of Object.entries(says)) {
        yield* sql`UPDATE servers SET status = ${status} WHERE id = ${id}`
        yield* Effect.repeat(rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer ${token}`]), {
          until: (answer) =>
            statusOf(answer) === 503 && answer.includes(message) &&
            // Trying again does not start a server that its owner stopped.
            /^retry-after: (\d+)\r$/im.exec(answer)?.[1] ===
              (status === "error" ? "60" : status === "stopped" ? undefined : "5"),
          schedule: Schedule.spaced("20 millis")
        }).pipe(Effect.timeout("5 seconds"))
      }
    }))

  it.scoped("tells of the database's absence, and serves again when it is back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { port } = yield* startGateway
      const { path, token } = yield* newServer({ machine: yield* startUpstream((_, res) => void res.end("ok")) })
      const ask = rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer ${token}`])
      yield* sql`ALTER TABLE servers RENAME TO hidden`
      const away = yield* ask
      yield* sql`ALTER TABLE hidden RENAME TO servers`
      assert.strictEqual(statusOf(away), 503)
      assert.match(away, /^retry-after: 5\r$/im)
      assert.strictEqual(statusOf(yield* ask), 200)
    }))
})
