import { type MachineAddress } from "#src/machines/Machines.ts"
import { assert, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { type AddressInfo, createServer } from "node:net"
import { gatewayServices, newServer, rawRequest, startGateway, statusOf } from "./support.ts"

/** A machine that answers every request with these bytes and hangs up. */
const saying = (text: string) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => {
        socket.on("error", () => undefined).once("data", () => socket.end(text, "latin1"))
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server): MachineAddress => ({
    _tag: "Tcp",
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port
  })))

const refused: Readonly<Record<string, string>> = {
  "no HTTP": "SSH-2.0-x\r\n",
  nothing: "",
  "half a head": "HTTP/1.1 200 OK\r\nX: y\r\n",
  "a control character in the reason": "HTTP/1.1 200 O\u0001K\r\nContent-Length: 0\r\n\r\n",
  "a status below 100": "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
  "a length and a coding": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
  "a control character in a header": "HTTP/1.1 200 OK\r\nX: a\u0000b\r\nContent-Length: 0\r\n\r\n",
  "a head of 60 KB": `HTTP/1.1 200 OK\r\nX: ${"x".repeat(60_000)}\r\n\r\n`,
  "a head of a megabyte": `HTTP/1.1 200 OK\r\nX: ${"x".repeat(1_000_000)}\r\n\r\n`,
  "a switch of protocols nobody asked for":
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
}

const ended = "The server ended the connection without an answer"
const tooLarge = "The headers of the server's answer are larger than 16 KiB"
/** What the client is told, where it is not that the answer is not valid HTTP. */
const causes: Readonly<Record<string, string>> = {
  nothing: ended,
  "half a head": ended,
  "a head of 60 KB": tooLarge,
  "a head of a megabyte": tooLarge
}

layer(gatewayServices(), { excludeTestServices: true })("a machine that answers", (it) => {
  const ask = Effect.fnUntraced(function*(text: string, method = "GET") {
    const { port } = yield* startGateway
    const { path, token } = yield* newServer({ machine: yield* saying(text) })
    const [length, body] = method === "GET" ? [[], ""] : [["Content-Length: 2"], "{}"]
    return yield* rawRequest(port, method, path, ["Host: b", `Authorization: Bearer ${token}`, ...length], body)
  })

  for (const [name, text] of Object.entries(refused)) {
    it.scoped(`with ${name} is a 502, and the gateway goes on`, () =>
      Effect.gen(function*() {
        for (const method of ["GET", "POST"]) {
          const answer = yield* ask(text, method)
          assert.strictEqual(statusOf(answer), 502, method)
          assert.include(answer, causes[name] ?? "The server's answer is not valid HTTP", method)
        }
      }))
  }

  it.scoped("with a 204 and a length has the length left out", () =>
    Effect.gen(function*() {
      for (const method of ["GET", "POST"]) {
        const answer = yield* ask("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\nX-Own: 1\r\n\r\n", method)
        assert.strictEqual(statusOf(answer), 204)
        assert.match(answer, /x-own: 1/i)
        assert.notMatch(answer, /content-length/i)
      }
    }))

  it.scoped("with anything but HTTP is told to the log in a few words", () => {
    const lines: Array<string> = []
    const keep = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void lines.push(JSON.stringify(message)))
    )
    return Effect.gen(function*() {
      yield* ask(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(1_000_000)}\r\n\r\n`)
      const about = lines.filter((line) => line.includes("did not answer"))
      assert.lengthOf(about, 1)
      assert.isBelow(about[0]!.length, 300)
    }).pipe(Effect.provide(keep))
  })

  it.scoped("with hints and a strange status first is passed on as far as HTTP goes", () =>
    Effect.gen(function*() {
      const text =
        "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 799 Odd\r\nX: \u00e9\r\nContent-Length: 2\r\n\r\nok"
      for (const method of ["GET", "POST"]) {
        const response = yield* ask(text, method)
        assert.strictEqual(statusOf(response), 799)
        assert.include(response, "X: \u00e9")
        assert.isTrue(response.endsWith("ok"))
      }
    }))

  it.scoped("more than it announced is cut at its length", () =>
    Effect.gen(function*() {
      const text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Smuggled: 1\r\n\r\n"
      for (const method of ["GET", "POST"]) {
        const response = yield* ask(text, method)
        assert.notInclude(response, "Smuggled")
        assert.isTrue(response.endsWith("ok"))
      }
    }))
})
