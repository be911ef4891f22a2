import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gatewayServices, newServer, startGateway, startUpstream } from "./support.ts"

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
})
