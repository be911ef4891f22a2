import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gatewayServices, newServer, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

layer(gatewayServices(), { excludeTestServices: true })("cookies", (it) => {
  it.scoped("never reach a machine, in either form of its address, however they are spelt", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((req, res) => void res.end(JSON.stringify(req.rawHeaders)))
      const { host, path, token } = yield* newServer({ machine })
      for (const [name, target] of [[host, "/x"], ["berth.test", `${path}/x`]] as const) {
        const response = yield* rawRequest(port, "GET", target, [
          `Host: ${name}`,
          `Authorization: Bearer ${token}`,
          "Cookie: svc_session=secret-1; theme=dark",
          "COOKIE: __Host-svc_session=secret-2",
          "cookie2: $Version=1; svc_session=secret-3",
          "X-Kept: yes"
        ])
        assert.strictEqual(statusOf(response), 200)
        assert.include(response, "X-Kept")
        assert.notMatch(response, /secret|cookie/i)
      }
    }))

  it.scoped("are never set, nor cleared, by a machine", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((_, res) => {
        res.writeHead(200, [
          ...["Set-Cookie", "svc_session=planted; Path=/"],
          ...["set-cookie", "a=1"],
          ...["Set-Cookie2", "b=2"],
          ...["Clear-Site-Data", "\"cookies\""],
          ...["X-Kept", "yes"]
        ]).end("ok")
      })
      const { host, path, token } = yield* newServer({ machine })
      for (const [name, target] of [[host, "/x"], ["berth.test", `${path}/x`]] as const) {
        const response = yield* rawRequest(port, "GET", target, [`Host: ${name}`, `Authorization: Bearer ${token}`])
        assert.strictEqual(statusOf(response), 200)
        assert.include(response, "X-Kept")
        assert.notMatch(response, /planted|cookie/i)
      }
    }))
})
