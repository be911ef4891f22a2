import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { text } from "node:stream/consumers"
import { deploy, gatewayServices, newServer, startGateway, startUpstream, statusOf } from "./support.ts"

/** One connection that sends one request after the other, each as soon as the one before is answered. */
const onOneConnection = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect(port, "127.0.0.1").on("error", () => undefined)
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(Effect.map((socket) => (lines: ReadonlyArray<string>, body = "{}") =>
    Effect.promise(async () => {
      let answer = ""
      const onData = (chunk: Buffer) => answer += chunk.toString("latin1")
      socket.on("data", onData)
      socket.write(`${[...lines, `Content-Length: ${body.length}`, "", ""].join("\r\n")}${body}`)
      const isWhole = () => {
        const end = answer.indexOf("\r\n\r\n")
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? "0")
        return end !== -1 && answer.length >= end + 4 + length
      }
      while (!isWhole() && !socket.destroyed) await new Promise((resolve) => setTimeout(resolve, 2))
      socket.off("data", onData)
      return answer
    })
  ))

const headOf = (path: string, token: string, ...more: ReadonlyArray<string>) => [
  `POST ${path}/mcp HTTP/1.1`,
  "Host: berth.test",
  `Authorization: Bearer ${token}`,
  ...more
]

layer(gatewayServices(), { excludeTestServices: true })("a head that a connection repeats", (it) => {
  const echo = (name: string) =>
    startUpstream((req, res) =>
      void text(req).then((body) => {
        const answer = `${name} ${body} ${String(req.headers["x-own"])}`
        res.writeHead(200, { "Content-Length": answer.length }).end(answer)
      })
    )

  it.scoped("leads each body to the machine, and each change of a header or of the path counts", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const one = yield* newServer({ machine: yield* echo("one") })
      const two = yield* newServer({ machine: yield* echo("two") })
      const ask = yield* onOneConnection(port)
      for (const body of ["{}", "[1]", "x".repeat(2_000), "{}"]) {
        const answer = yield* ask(headOf(one.path, one.token, "X-Own: 1"), body)
        assert.isTrue(answer.endsWith(`one ${body} 1`), answer)
      }
      assert.include(yield* ask(headOf(one.path, one.token, "X-Own: 2")), "one {} 2")
      assert.include(yield* ask(headOf(one.path, one.token)), "one {} undefined")
      assert.include(yield* ask(headOf(two.path, two.token, "X-Own: 1")), "two {} 1")
      assert.strictEqual(statusOf(yield* ask(headOf(one.path, two.token, "X-Own: 1"))), 401)
      assert.include(yield* ask(headOf(one.path, one.token, "X-Own: 1")), "one {} 1")
    }))

  it.scoped("lets nobody in once the token was revoked", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const tokens = yield* AccessTokens
      const { accountId, audience, id, path } = yield* newServer({ machine: yield* echo("one") })
      const { token } = yield* tokens.mint({
        accountId,
        audience,
        scope: allMcpScopes,
        clientId: "test",
        familyId: "family",
        serverId: id
      })
      const ask = yield* onOneConnection(port)
      for (let i = 0; i < 3; i++) assert.strictEqual(statusOf(yield* ask(headOf(path, token))), 200)
      yield* tokens.revokeFamily("family")
      assert.strictEqual(statusOf(yield* ask(headOf(path, token))), 401)
    }))

  it.scoped("goes to the machine that serves now", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* echo("old") })
      const ask = yield* onOneConnection(port)
      for (let i = 0; i < 3; i++) assert.include(yield* ask(headOf(server.path, server.token)), "old {}")
      yield* deploy(server.id, yield* echo("new"))
      yield* ask(headOf(server.path, server.token)).pipe(
        Effect.filterOrFail((answer) => answer.includes("new {}")),
        Effect.retry({ times: 100 })
      )
    }))

  it.scoped("is refused when its length is none that everybody reads in the same way", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { path, token } = yield* newServer({ machine: yield* echo("one") })
      for (const bad of ["Content-Length: 2", "Transfer-Encoding: chunked", "Authorization: Bearer x"]) {
        const ask = yield* onOneConnection(port)
        for (let i = 0; i < 3; i++) assert.strictEqual(statusOf(yield* ask(headOf(path, token))), 200)
        assert.strictEqual(statusOf(yield* ask(headOf(path, token, bad))), 400, bad)
      }
    }))

  it.scoped("gets its own answer, whatever the machine says while nobody asks", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      let asked = 0
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const machine = createServer((socket) =>
            socket.on("error", () => undefined).on("data", () => {
              const body = `answer ${++asked}`
              socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
              setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"), 5)
            })
          )
          await once(machine.listen(0, "127.0.0.1"), "listening")
          return machine
        }),
        (machine) => Effect.sync(() => machine.close())
      )
      const machine = { _tag: "Tcp", host: "127.0.0.1", port: (server.address() as AddressInfo).port } as const
      const { path, token } = yield* newServer({ machine })
      const ask = yield* onOneConnection(port)
      for (let i = 1; i <= 5; i++) {
        assert.include(yield* ask(headOf(path, token)), `answer ${i}`)
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
      }
    }))
})
