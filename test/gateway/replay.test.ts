import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gatewayServices, newServer, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const byoa = {
  issuer: "https://i",
  jwksUri: "https://i/j",
  authorizationEndpoint: "https://i/a",
  tokenEndpoint: "https://i/t"
} as const
const secret = "replay-5ecret"

/** Says which headers came, and gives them back in its own: some servers do. */
const echo = startUpstream((req, res) => {
  const sent = Object.entries(req.headersDistinct).flatMap(([name, values]) =>
    name.replaceAll("_", "-") === "x-berth-gateway-token" ? [[name, values]] : []
  )
  const headers = { "x-berth-gateway-token": secret, X_Berth_Gateway_Token: secret, "x-other": "kept" }
  res.writeHead(req.url === "/refuse" ? 500 : 200, headers).end(
    `${sent.length}:${req.headers["x-berth-gateway-token"] === secret}`
  )
})

layer(gatewayServices(), { excludeTestServices: true })("the replay token", (it) => {
  for (const [mode, options] of [["service_managed", {}], ["byoa", { byoa }]] as const) {
    it.scoped(`goes to the machine with every request, and to nobody else (${mode})`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { port } = yield* startGateway
        const { host, id, path, token } = yield* newServer({ machine: yield* echo, ...options })
        yield* sql`UPDATE servers SET replay_token = ${secret} WHERE id = ${id}`
        const forged = [
          "X-Berth-Gateway-Token: forged",
          "x-berth-gateway-token: forged",
          "X_BERTH_Gateway-Token: forged"
        ]
        const asks = [
          ["GET", `${path}/mcp`, "b"],
          ["POST", `${path}/message`, "b"],
          ["GET", "/sse", host],
          ["GET", "/refuse", host]
        ] as const
        for (const [method, target, name] of asks) {
          for (const more of [[], forged, ["Connection: close, X-Berth-Gateway-Token", ...forged]]) {
            const response = yield* rawRequest(port, method, target, [
              `Host: ${name}`,
              `Authorization: Bearer ${token}`,
              "Content-Length: 0",
              ...more
            ])
            assert.isTrue(response.endsWith("1:true") || response.includes("\r\n1:true\r\n"), response)
            assert.notInclude(response, secret)
            assert.include(response, "x-other: kept")
          }
        }
        // What we answer ourselves has no reason to know it.
        for (const target of [path, "/.well-known/oauth-protected-resource"]) {
          const ours = yield* rawRequest(port, "GET", target, [`Host: ${target === path ? "b" : host}`])
          assert.notInclude(ours, secret)
          assert.include([200, 401], statusOf(ours))
        }
      }))
  }
})
