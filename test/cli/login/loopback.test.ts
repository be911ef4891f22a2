import { listen } from "#src/cli/login/loopback.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { request } from "node:http"

/** A request to the listener by whatever name, as a page that knows the port can have a browser send it. */
const ask = (port: number, path: string, { host = `127.0.0.1:${port}`, method = "GET" } = {}) =>
  Effect.promise(() =>
    new Promise<readonly [number | undefined, string]>((resolve, reject) => {
      request({ host: "127.0.0.1", port, path, method, headers: { host } }, (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => (text += chunk.toString()))
        response.on("end", () => resolve([response.statusCode, text]))
      }).on("error", reject).end()
    })
  )

describe("what waits for the browser to come back", () => {
  it.scopedLive("takes the one answer with its state, and shows what became of it", () =>
    Effect.gen(function*() {
      const { answer, port, redirectUri } = yield* listen("mine")
      assert.strictEqual(redirectUri, `http://127.0.0.1:${port}/callback`)
      const page = yield* Effect.fork(ask(port, "/callback?code=right&state=mine"))
      const { parameters, show } = yield* answer
      assert.strictEqual(parameters.get("code"), "right")
      const [again] = yield* ask(port, "/callback?code=late&state=mine")
      assert.strictEqual(again, 400)
      show("loggedIn")
      // The first counts.
      show("failed")
      const [status, text] = yield* Fiber.join(page)
      assert.strictEqual(status, 200)
      assert.include(text, "You can close this window")
    }))

  it.scopedLive("is not moved by a forged state, another host or port, another method or another path", () =>
    Effect.gen(function*() {
      const { answer, port } = yield* listen("mine")
      const waiting = yield* Effect.fork(answer)
      const right = "/callback?code=x&state=mine"
      const statuses = yield* Effect.all([
        ask(port, "/callback?code=x&state=forged"),
        ask(port, "/callback?code=x"),
        ask(port, `${right}&state=mine`),
        ask(port, right, { host: `127.0.0.1:${port + 1}` }),
        ask(port, right, { host: `evil.example:${port}` }),
        ask(port, right, { method: "POST" }),
        ask(port, "/?code=x&state=mine"),
        ask(port, "//[")
      ])
      assert.deepStrictEqual(statuses.map(([status]) => status), [400, 400, 400, 400, 400, 400, 404, 404])
      for (const [, text] of statuses) assert.notInclude(text, "code=x")
      assert.strictEqual((yield* Fiber.poll(waiting))._tag, "None")
    }))

  it.scoped("gives up after ten minutes with a sentence, and exit code 3", () =>
    Effect.gen(function*() {
      const { answer } = yield* listen("mine")
      const waiting = yield* Effect.fork(Effect.flip(answer))
      yield* TestClock.adjust("10 minutes")
      const { code, message } = yield* Fiber.join(waiting)
      assert.deepStrictEqual([code, message], [3, "Nobody allowed it in a browser within 10 minutes"])
    }))
})
