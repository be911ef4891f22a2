import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { once } from "node:events"
import { type ServerResponse } from "node:http"
import { gatewayServices, newServer, raw, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const head = (path: string, token: string) =>
  `GET ${path} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer ${token}\r\n\r\n`

layer(gatewayServices(), { excludeTestServices: true })("the gateway's end", (it) => {
  const setUp = Effect.gen(function*() {
    const open: Array<ServerResponse> = []
    const machine = yield* startUpstream((req, res) => {
      if (req.url === "/stream") {
        res.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: 1\n\n")
      }
      open.push(res)
    })
    const { gateway, port } = yield* startGateway
    const { path, token } = yield* newServer({ machine })
    const begin = Effect.fnUntraced(function*(target: string) {
      const before = open.length
      const fiber = yield* Effect.fork(raw(port, head(path + target, token), (text) => text.endsWith("0\r\n\r\n")))
      while (open.length === before) yield* Effect.sleep("5 millis")
      return { fiber, res: open.at(-1)! }
    })
    return { begin, gateway, path, port, token }
  })

  it.scoped("lets what is under way end, takes nothing new, and does not wait longer than it must", () =>
    Effect.gen(function*() {
      const { begin, gateway, path, port, token } = yield* setUp
      const { fiber, res } = yield* begin("/slow")
      const draining = yield* Effect.fork(gateway.drain(5_000))
      yield* Effect.sleep("50 millis")
      const late = yield* rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer ${token}`])
      assert.strictEqual(statusOf(late), 503)
      assert.match(late, /^connection: close/im)
      const start = performance.now()
      res.end("finished")
      yield* Fiber.join(draining)
      assert.isBelow(performance.now() - start, 1_000)
      const response = yield* Fiber.join(fiber)
      assert.include(response, "finished")
      assert.match(response, /^connection: close/im)
    }))

  it.scoped("closes streams cleanly when the grace is over, and answers for what has not answered", () =>
    Effect.gen(function*() {
      const { begin, gateway } = yield* setUp
      const stream = yield* begin("/stream")
      const stuck = yield* begin("/stuck")
      const gone = Promise.all([once(stream.res, "close"), once(stuck.res, "close")])
      yield* Effect.sleep("50 millis")
      const start = performance.now()
      yield* gateway.drain(300)
      assert.closeTo(performance.now() - start, 300, 150)
      yield* Effect.promise(() => gone)
      assert.match(yield* Fiber.join(stuck.fiber), /^HTTP\/1\.1 502 .*"BAD_GATEWAY"/s)
      assert.include(yield* Fiber.join(stream.fiber), "data: 1", "and a last chunk after it")
    }))

  it.scoped("has nothing to wait for when nothing is under way", () =>
    Effect.gen(function*() {
      const { gateway } = yield* setUp
      const start = performance.now()
      yield* gateway.drain(5_000)
      assert.isBelow(performance.now() - start, 200)
    }))
})
