import { mayRetry, wasNotReceived } from "#http/gateway/upstream.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { assert, it, layer } from "@effect/vitest"
import { Arbitrary, Effect, FastCheck, Schema } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { temporaryDirectory } from "../support/Settings.ts"
import {
  FakeMachines,
  gatewayServices,
  newServer,
  raw,
  rawRequest,
  startGateway,
  startUpstream,
  statusOf
} from "./support.ts"

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A machine that has each connection for itself. */
const listening = (serve: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((socket) => serve(socket.on("error", () => undefined)))
      await once(server.listen(0, "127.0.0.1"), "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    Effect.map((server): MachineAddress => ({
      _tag: "Tcp",
      host: "127.0.0.1",
      port: (server.address() as AddressInfo).port
    }))
  )

const Answer = Schema.Struct({
  method: Schema.Literal("GET", "POST"),
  framing: Schema.Literal("length", "chunked", "close"),
  chunks: Schema.Array(Schema.String.pipe(Schema.pattern(/^[\x20-\x7e\xa1-\xff]{1,40}$/))).pipe(Schema.maxItems(5)),
  cuts: Schema.Array(Schema.Int.pipe(Schema.between(1, 300))).pipe(Schema.maxItems(4))
})

const headOf = {
  length: (size: number) => `Content-Length: ${size}`,
  chunked: () => "Transfer-Encoding: chunked",
  close: () => "X: y"
}

/** The bytes of an answer, in the pieces in which they come. */
const piecesOf = ({ chunks, cuts, framing }: typeof Answer.Type) => {
  const body = chunks.join("")
  const framed = framing === "chunked"
    ? `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\nX-Trailer: 1\r\n\r\n`
    : body
  const all = `HTTP/1.1 200 OK\r\n${headOf[framing](body.length)}\r\n\r\n${framed}`
  const at = [0, ...cuts.filter((cut) => cut < all.length).toSorted((a, b) => a - b), all.length]
  return at.slice(1).map((end, i) => all.slice(at[i], end))
}

it("a request is sent again only where it can't have run", () => {
  const broken = (code: string) => Object.assign(new Error(code), { code })
  const [reset, closed] = [broken("ECONNRESET"), broken("EPIPE")]
  const cases = [
    [{ error: reset, method: "GET", wasUsed: true, writtenAtOnce: true }, true],
    [{ error: reset, method: "DELETE", wasUsed: true, writtenAtOnce: false }, true],
    [{ error: reset, method: "GET", wasUsed: false, writtenAtOnce: true }, false],
    [{ error: reset, method: "POST", wasUsed: true, writtenAtOnce: true }, false],
    [{ error: closed, method: "POST", wasUsed: true, writtenAtOnce: true }, true],
    // An earlier piece may have arrived.
    [{ error: closed, method: "POST", wasUsed: true, writtenAtOnce: false }, false],
    [{ error: closed, method: "POST", wasUsed: false, writtenAtOnce: true }, false]
  ] as const
  for (const [attempt, expected] of cases) assert.strictEqual(mayRetry(attempt), expected, JSON.stringify(attempt))
})

it("knows that a machine did not get a request when its socket closed before, or without reading it all", () => {
  const unix = { _tag: "Unix", path: "/machine.sock" } as const
  const tcp = { _tag: "Tcp", host: "127.0.0.1", port: 1 } as const
  const failing = (code: string) => Object.assign(new Error(code), { code })
  const cases = [
    [unix, "EPIPE", true, true],
    [tcp, "EPIPE", true, true],
    [unix, "ECONNRESET", true, true],
    // It may have read all, and then failed.
    [tcp, "ECONNRESET", true, false],
    [unix, "UND_ERR_SOCKET", true, false],
    [unix, "EPIPE", false, false],
    [unix, "ECONNRESET", false, false]
  ] as const
  for (const [machine, code, writtenAtOnce, expected] of cases) {
    assert.strictEqual(wasNotReceived({ error: failing(code), machine, writtenAtOnce }), expected, code)
  }
})

layer(gatewayServices(), { excludeTestServices: true })("the way to a machine", (it) => {
  it.scoped("leads on from a relay that closes what it has not read, and not from one that has read it", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { addresses } = yield* FakeMachines
      const calls: Array<string> = []
      const upstream = yield* startUpstream((req, res) => {
        void text(req).then((body) => (calls.push(body), res.end("there")))
      })
      const call = Effect.fnUntraced(function*(reads: boolean, body: string) {
        const machine: MachineAddress = { _tag: "Unix", path: join(temporaryDirectory("relay"), "m.s") }
        const relay = createServer({ pauseOnConnect: !reads }, (socket) => {
          socket.on("error", () => undefined).on("data", () => undefined)
          for (const [name, address] of addresses) if (address === machine) addresses.set(name, upstream)
          setTimeout(() => socket.destroy(), 20)
        })
        yield* Effect.acquireRelease(
          Effect.promise(() => once(relay.listen(machine.path), "listening")),
          () => Effect.sync(() => relay.close())
        )
        const { path, token } = yield* newServer({ machine })
        const headers = [
          "Host: berth.test",
          `Authorization: Bearer ${token}`,
          "Connection: close",
          `Content-Length: ${body.length}`
        ]
        return yield* rawRequest(port, "POST", path, headers, body)
      })
      for (const body of ["", "{}", "x".repeat(20_000)]) {
        const answer = yield* call(false, body)
        assert.deepStrictEqual([statusOf(answer), answer.endsWith("there")], [200, true], answer.slice(0, 200))
      }
      assert.deepStrictEqual(calls.map(({ length }) => length), [0, 2, 20_000])
      assert.strictEqual(statusOf(yield* call(true, "{}")), 502)
      assert.lengthOf(calls, 3)
    }))

  it.scoped("carries an answer to the byte, wherever its packets end", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      let pieces: ReadonlyArray<string> = []
      let ends = false
      const machine = yield* listening((socket) =>
        socket.on("data", async () => {
          // The next request may come, on the same connection, before the last pause is over.
          const [mine, isLast] = [pieces, ends]
          for (const piece of mine) {
            socket.write(piece, "latin1")
            await pause(2)
          }
          if (isLast) socket.end()
        })
      )
      const { path, token } = yield* newServer({ machine })
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(Arbitrary.make(Answer), async (answer) => {
            pieces = piecesOf(answer)
            ends = answer.framing === "close"
            const response = await fetch(`http://127.0.0.1:${port}${path}`, {
              method: answer.method,
              ...(answer.method === "POST" ? { body: "{}" } : {}),
              headers: { authorization: `Bearer ${token}` }
            })
            const body = Buffer.from(await response.arrayBuffer()).toString("latin1")
            assert.strictEqual(body, answer.chunks.join(""))
          }),
          { numRuns: 60 }
        )
      )
    }))

  it.scoped("is closed 1.5 seconds after the last request, and the next one makes another", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const closed: Array<number> = []
      let opened = 0
      const machine = yield* listening((socket) => {
        opened++
        let lastAt = 0
        socket.on("data", () => {
          lastAt = performance.now()
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=60\r\n\r\nok")
        })
        socket.on("close", () => closed.push(performance.now() - lastAt))
      })
      const { path, token } = yield* newServer({ machine })
      const ask = rawRequest(
        port,
        "POST",
        path,
        ["Host: b", `Authorization: Bearer ${token}`, "Content-Length: 1"],
        "x"
      )
      for (let i = 0; i < 3; i++) assert.strictEqual(statusOf(yield* ask), 200)
      assert.strictEqual(opened, 1)
      yield* Effect.promise(() => pause(2_200))
      assert.strictEqual(closed.length, 1)
      assert.isAbove(closed[0]!, 1_300)
      assert.strictEqual(statusOf(yield* ask), 200)
      assert.strictEqual(opened, 2)
    }))

  it.scoped("gets a small body in one write, and one that is slow to come as it comes", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const seen: Array<string> = []
      const machine = yield* listening((socket) =>
        socket.on("data", (chunk) => {
          seen.push(chunk.toString("latin1"))
          if (String(chunk).endsWith("!")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        })
      )
      const { path, token } = yield* newServer({ machine })
      const head = `POST ${path} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer ${token}\r\nContent-Length: 6\r\n`
      const send = (wait: number) =>
        Effect.promise(async () => {
          seen.length = 0
          const socket = connect(port, "127.0.0.1", () => socket.write(`${head}Connection: close\r\n\r\nabc`))
          let answer = ""
          socket.on("data", (chunk) => answer += chunk)
          await pause(wait)
          const before = seen.length
          socket.write("de!")
          await once(socket, "close")
          return { before, answer }
        })
      const quick = yield* send(30)
      assert.include(quick.answer, "200 OK")
      assert.strictEqual(quick.before, 0)
      assert.match(seen.join("|"), /^POST [^|]*abcde!$/)
      const slow = yield* send(600)
      assert.include(slow.answer, "200 OK")
      assert.strictEqual(slow.before, 1)
      assert.match(seen.join("|"), /abc\|de!$/)
    }))

  it.scoped("is that of OPTIONS * too, which is about the whole server", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const asked: Array<string | undefined> = []
      const machine = yield* startUpstream((req, res) => {
        asked.push(req.url)
        res.writeHead(204, { Allow: "GET" }).end()
      })
      const { host, token } = yield* newServer({ machine })
      const response = yield* rawRequest(port, "OPTIONS", "*", [`Host: ${host}`, `Authorization: Bearer ${token}`])
      assert.strictEqual(statusOf(response), 204)
      assert.match(asked[0] ?? "", /^http:\/\/localhost(:\d+)?$/)
    }))

  it.scoped("is not kept by a machine that says nothing and then closes", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      let calls = 0
      const machine = yield* listening((socket) =>
        socket.on("data", () => {
          calls++
          socket.end()
        })
      )
      const { path, token } = yield* newServer({ machine })
      const response = yield* raw(
        port,
        `POST ${path} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`
      )
      assert.strictEqual(statusOf(response), 502)
      assert.strictEqual(calls, 1)
    }))
})
