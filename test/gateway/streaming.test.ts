import { bounds } from "#http/connection/linger.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { vi } from "vitest"
import { full, long } from "../support/needs.ts"
import { deploy, gatewayServices, newServer, startGateway, startUpstream } from "./support.ts"

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Open {
  readonly req: ClientRequest
  readonly response: Promise<IncomingMessage>
}

const open = (port: number, path: string, token: string, options: { method?: string; headers?: object } = {}): Open => {
  const headers = { host: "berth.test", authorization: `Bearer ${token}`, ...options.headers }
  const req = request({ port, path, host: "127.0.0.1", method: options.method ?? "GET", headers, agent: false })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    req.on("response", resolve).on("error", reject)
  })
  response.catch(() => undefined)
  return { req, response }
}

const textOf = async (message: IncomingMessage) => {
  let text = ""
  for await (const chunk of message) text += chunk
  return text
}

const until = async (holds: () => boolean, what: string) => {
  for (let i = 0; i < 200; i++) {
    if (holds()) return
    await pause(10)
  }
  assert.fail(`in 2 seconds, not ${what}`)
}

layer(gatewayServices(), { excludeTestServices: true })("a stream through the gateway", (it) => {
  const serving = (listener: (req: IncomingMessage, res: ServerResponse) => void) =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* startUpstream(listener) })
      return { port, ...server }
    })

  it.scoped("has its headers at once, and each event when it was sent", () =>
    Effect.gen(function*() {
      // The machine says nothing more until its client has got what it said before.
      let received = 0
      const { path, port, token } = yield* serving(async (_, res) => {
        res.writeHead(200, { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" })
        res.flushHeaders()
        for (let i = 0; i < 4; i++) {
          await until(() => received === i + 1, `${i} events and the headers at the client`)
          res.write(`data: ${i}\n\n`)
        }
        res.end()
      })
      const events: Array<string> = []
      yield* Effect.promise(async () => {
        const { req, response } = open(port, `${path}/mcp`, token)
        req.end()
        const message = await response
        assert.strictEqual(message.headers["x-accel-buffering"], "no")
        received++
        for await (const chunk of message) {
          events.push(String(chunk))
          received++
        }
      })
      assert.deepStrictEqual(events, [0, 1, 2, 3].map((i) => `data: ${i}\n\n`))
    }))

  it.scoped("goes up as it is sent: the first byte is there before the last is written", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const { path, port, token } = yield* serving(async (req, res) => {
        for await (const chunk of req) seen.push(String(chunk))
        res.end("done")
      })
      yield* Effect.promise(async () => {
        const { req, response } = open(port, path, token, { method: "POST" })
        req.write("first")
        await until(() => seen.length === 1, "the first chunk at the machine")
        req.write("second")
        await until(() => seen.length === 2, "the second chunk at the machine")
        req.end()
        assert.strictEqual(await textOf(await response), "done")
      })
    }))

  it.scoped("may go both ways at once", () =>
    Effect.gen(function*() {
      const { path, port, token } = yield* serving((req, res) => {
        res.writeHead(200)
        req.pipe(res)
      })
      yield* Effect.promise(async () => {
        const { req, response } = open(port, path, token, { method: "POST" })
        for (const text of ["ping", "pong"]) {
          req.write(text)
          const [chunk] = await once(await response, "data")
          assert.strictEqual(String(chunk), text)
        }
        req.end()
      })
    }))

  it.scoped.skipIf(!full)(
    long("of 200 MB in either direction is never held in memory, however slow the reader"),
    () =>
      Effect.gen(function*() {
        const size = 200 * 1024 * 1024
        const block = Buffer.alloc(1024 * 1024, "x")
        const { accountId, path, port, token } = yield* serving(async (req, res) => {
          let received = 0
          for await (const chunk of req) {
            received += chunk.length
            // A reader that lags behind the writer.
            if (received % (16 * 1024 * 1024) < chunk.length) await pause(5)
          }
          res.writeHead(200, { "X-Received": received })
          for (let sent = 0; sent < size; sent += block.length) {
            if (!res.write(block)) await once(res, "drain")
          }
          res.end()
        })
        yield* Effect.promise(async () => {
          globalThis.gc?.()
          const before = process.memoryUsage().rss
          let peak = 0
          const watch = setInterval(() => peak = Math.max(peak, process.memoryUsage().rss), 20)
          const { req, response } = open(port, path, token, { method: "POST", headers: { "content-length": size } })
          for (let sent = 0; sent < size; sent += block.length) {
            if (!req.write(block)) await once(req, "drain")
          }
          req.end()
          const message = await response
          assert.strictEqual(message.headers["x-received"], String(size))
          let received = 0
          for await (const chunk of message) {
            received += chunk.length
            if (received % (16 * 1024 * 1024) < chunk.length) await pause(5)
          }
          clearInterval(watch)
          assert.strictEqual(received, size)
          // Client, gateway and machine share this process; the body alone would be 200 MB in each.
          assert.isBelow(peak - before, 150 * 1024 * 1024)
        })
        yield* Effect.flatMap(RequestMetering, ({ flush }) => flush)
        const sql = yield* SqlClient.SqlClient
        const [stored] = yield* sql`SELECT request_count::int AS count, bandwidth_bytes::text AS bytes FROM usage
          WHERE account_id = ${accountId}`
        assert.deepStrictEqual(stored, { count: 1, bytes: String(2 * size) })
      }),
    60_000
  )

  it.scoped("ends at the machine when the client leaves, while it waits, sends or listens", () =>
    Effect.gen(function*() {
      let left = 0
      const { path, port, token } = yield* serving((req, res) => {
        res.on("close", () => left++)
        if (req.url === "/listen") res.writeHead(200, { "Content-Type": "text/event-stream" }).write(": hi\n\n")
        req.resume()
      })
      yield* Effect.promise(async () => {
        const waiting = open(port, `${path}/wait`, token)
        waiting.req.end()
        await pause(100)
        waiting.req.destroy()
        await until(() => left === 1, "gone while it waited")
        const sending = open(port, `${path}/send`, token, { method: "POST" })
        sending.req.write("part")
        await pause(100)
        sending.req.destroy()
        await until(() => left === 2, "gone while it sent")
        const listening = open(port, `${path}/listen`, token)
        listening.req.end()
        await listening.response
        listening.req.destroy()
        await until(() => left === 3, "gone while it listened")
      })
    }))

  it.scoped("that the machine breaks off is broken off for the client, not ended well", () =>
    Effect.gen(function*() {
      const { path, port, token } = yield* serving((req, res) => {
        res.writeHead(200, req.url === "/length" ? { "Content-Length": 10 } : {})
        res.write("part", () => setTimeout(() => res.destroy(), 20))
      })
      for (const way of ["length", "chunked"]) {
        const outcome = yield* Effect.promise(async () => {
          const { req, response } = open(port, `${path}/${way}`, token)
          req.end()
          return textOf(await response).catch((error: NodeJS.ErrnoException) => error.code)
        })
        assert.strictEqual(outcome, "ECONNRESET", way)
      }
    }))

  it.scoped("answered before its body was sent gets the answer", () =>
    Effect.gen(function*() {
      const { path, port, token } = yield* serving((_, res) =>
        void res.writeHead(413, { Connection: "close" }).end("no")
      )
      yield* Effect.promise(async () => {
        const { req, response } = open(port, path, token, { method: "POST" })
        req.write(Buffer.alloc(64 * 1024))
        const message = await response
        assert.strictEqual(message.statusCode, 413)
        // Its end waits for that of the body, some seconds.
        const text = await new Promise((resolve) => message.once("data", resolve))
        assert.strictEqual(String(text), "no")
        req.on("error", () => undefined).destroy()
      })
    }))

  it.scoped("that was refused is read to its answer, and then cut off when it does not stop sending", () =>
    Effect.gen(function*() {
      const { path, port } = yield* serving(() => assert.fail("nothing may pass"))
      yield* Effect.promise(async () => {
        const socket = connect(port, "127.0.0.1").setEncoding("latin1")
        const answer = new Promise<string>((resolve) => socket.once("data", (text: string) => resolve(text)))
        const closed = new Promise((resolve) => socket.on("close", resolve).on("error", () => undefined))
        socket.write(`POST ${path} HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n`)
        assert.match(await answer, /^HTTP\/1\.1 401 /)
        const megabyte = `100000\r\n${"x".repeat(1024 * 1024)}\r\n`
        let sent = 0
        while (!socket.destroyed && sent < 300) {
          sent++
          if (!socket.write(megabyte)) {
            await Promise.race([new Promise((drained) => socket.once("drain", drained)), closed])
          }
        }
        await closed
        assert.isAtLeast(sent, bounds.bytes / 1024 / 1024)
        assert.isBelow(sent, 200)
      })
    }))

  it.scoped("of the legacy transport names its message endpoint with the prefix, in the path form", () =>
    Effect.gen(function*() {
      const { host, path, port, token } = yield* serving((req, res) => {
        assert.isUndefined(req.headers["accept-encoding"], "it has to be read")
        res.writeHead(200, { "Content-Type": "text/event-stream" })
        res.write("event: endpoint\nda")
        setTimeout(() => res.write("ta: /message?sessionId=1\n\n"), 30)
        setTimeout(() => res.end("event: message\ndata: /message\n\n"), 60)
      })
      const rest = "event: message\ndata: /message\n\n"
      const headers = { accept: "text/event-stream", "accept-encoding": "gzip" }
      const read = (path: string, host: string) =>
        Effect.promise(async () => {
          const { req, response } = open(port, path, token, { headers: { ...headers, host } })
          req.end()
          return textOf(await response)
        })
      // The version at its end brings the client's messages to the machine that has the stream.
      const first = (prefix: string) => `event: endpoint\ndata: ${prefix}/message?sessionId=1&berth-version=N\n\n`
      const told = (stream: string) => stream.replace(/(?<=&berth-version=)\d+(?=\n)/, "N")
      assert.strictEqual(told(yield* read(`${path}/sse`, "berth.test")), first(path) + rest)
      assert.strictEqual(told(yield* read("/sse", host)), first("") + rest)
    }))

  it.scoped("that says nothing has a comment within a second, and then again, between events only", () =>
    Effect.gen(function*() {
      let answer: ServerResponse | undefined
      const { path, port, token } = yield* serving((_, res) => {
        res.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8", "Content-Length": 19 }).flushHeaders()
        answer = res
      })
      yield* Effect.promise(async () => {
        const { req, response } = open(port, path, token, { method: "POST" })
        req.end()
        const message = await response
        const began = performance.now()
        let text = ""
        message.setEncoding("latin1").on("data", (part) => text += part)
        await until(() => text === ":\n\n", "a comment")
        assert.isBelow(performance.now() - began, 1_000)
        assert(answer !== undefined)
        answer.write("data: 1\n")
        await until(() => text.endsWith("1\n"), "half an event")
        const now = performance.now.bind(performance)
        const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 25_000)
        await pause(400)
        assert.strictEqual(text, ":\n\ndata: 1\n")
        answer.write("\n")
        await until(() => text === ":\n\ndata: 1\n\n:\n\n", "a comment after the event")
        clock.mockRestore()
        answer.end("data: 2\n\n ")
        await once(message, "end")
        assert.strictEqual(text, ":\n\ndata: 1\n\n:\n\ndata: 2\n\n ")
        assert.isUndefined(message.headers["content-length"])
      })
    }))

  it.scoped("that is compressed, or no event stream, passes untouched however silent it is", () =>
    Effect.gen(function*() {
      const heads = [
        { "Content-Type": "text/event-stream", "Content-Encoding": "gzip" },
        { "Content-Type": "application/json" },
        { "Content-Type": "text/event-streams" },
        {}
      ]
      const { path, port, token } = yield* serving((req, res) => {
        res.writeHead(200, heads[Number(req.url!.slice(1))]).flushHeaders()
        setTimeout(() => res.end("the end"), 1_200)
      })
      yield* Effect.forEach(heads, (_, i) =>
        Effect.promise(async () => {
          const { req, response } = open(port, `${path}/${i}`, token)
          req.end()
          assert.strictEqual(await textOf(await response), "the end")
        }), { concurrency: "unbounded" })
    }))

  it.scoped("whose body stops to come is answered 408 after a minute, or cut, and its connections are closed", () =>
    Effect.gen(function*() {
      let left = 0
      const { path, port, token } = yield* serving((req, res) => {
        res.on("close", () => left++)
        req.resume()
        if (req.url === "/answers") res.writeHead(200).write("part")
      })
      yield* Effect.promise(async () => {
        const sockets = ["/waits", "/answers", "/chunked"].map((target) => {
          const socket = connect(port, "127.0.0.1").setEncoding("latin1").on("error", () => undefined)
          const framing = target === "/chunked"
            ? "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
            : "Content-Length: 100000\r\n\r\nx"
          socket.write(`POST ${path}${target} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer ${token}\r\n${framing}`)
          const seen = { text: "", isClosed: false }
          socket.on("data", (part) => seen.text += part).on("close", () => seen.isClosed = true)
          return seen
        })
        await until(() => sockets[1]!.text.endsWith("part\r\n"), "the beginning of an answer")
        await pause(600)
        const now = performance.now.bind(performance)
        const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000)
        await until(() => left === 3 && sockets.every(({ isClosed }) => isClosed), "the ends of all connections")
        clock.mockRestore()
        for (const { text } of [sockets[0]!, sockets[2]!]) {
          assert.match(text, /^HTTP\/1\.1 408 [^]*Connection: close[^]*"REQUEST_TIMEOUT"[^]*for 60 seconds/)
        }
        assert.isFalse(sockets[1]!.text.endsWith("0\r\n\r\n"))
      })
    }))

  it.scoped("keeps encoded bytes as they are", () =>
    Effect.gen(function*() {
      const { path, port, token } = yield* serving((_, res) =>
        void res.writeHead(200, { "Content-Encoding": "gzip", "Content-Length": 3 }).end(Buffer.from([31, 139, 0]))
      )
      const message = yield* Effect.promise(() => {
        const { req, response } = open(port, path, token)
        req.end()
        return response
      })
      assert.strictEqual(message.headers["content-encoding"], "gzip")
      assert.deepStrictEqual(yield* Effect.promise(() => message.toArray()), [Buffer.from([31, 139, 0])])
    }))

  it.scoped("without a body (HEAD, 204, 304) has none, and keeps its headers", () =>
    Effect.gen(function*() {
      const stream = { "Content-Type": "text/event-stream" }
      const { path, port, token } = yield* serving((req, res) => {
        const status = Number(req.url!.slice(1))
        res.writeHead(
          status,
          status === 200 ? { ...stream, "Content-Length": 1234, ETag: "\"a\"" } : { ...stream, ETag: "\"a\"" }
        ).end()
      })
      for (
        const [method, status, length] of [["HEAD", 200, "1234"], ["GET", 204, undefined], [
          "GET",
          304,
          undefined
        ]] as const
      ) {
        const message = yield* Effect.promise(() => {
          const { req, response } = open(port, `${path}/${status}`, token, { method })
          req.end()
          return response
        })
        assert.strictEqual(message.statusCode, status)
        assert.strictEqual(message.headers["content-length"], length)
        assert.strictEqual(message.headers.etag, "\"a\"")
        assert.strictEqual(yield* Effect.promise(() => textOf(message)), "")
      }
    }))
})

layer(gatewayServices(), { excludeTestServices: true })("a connection to a machine", (it) => {
  const post = (port: number, path: string, token: string, body: string, method = "POST") =>
    Effect.promise(async () => {
      const { req, response } = open(port, path, token, { method, headers: { "content-length": body.length } })
      req.end(body)
      const message = await response
      return { status: message.statusCode, text: await textOf(message) }
    })

  it.scoped("is used again, and a new one is made when the machine restarted", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      let connections = 0
      const listen = (at: number) =>
        Effect.acquireRelease(
          Effect.promise(async () => {
            const server = createServer((req, res) => void req.pipe(res)).on("connection", () => connections++)
            await once(server.listen(at, "127.0.0.1"), "listening")
            return server
          }),
          (server) =>
            Effect.promise(async () => {
              const closed = once(server, "close")
              server.close()
              server.closeAllConnections()
              await closed
            })
        )
      const machinePort = yield* Effect.scoped(Effect.gen(function*() {
        const machine = yield* listen(0)
        const address = machine.address()
        return typeof address === "object" && address !== null ? address.port : 0
      }))
      const { path, token } = yield* newServer({ machine: { _tag: "Tcp", host: "127.0.0.1", port: machinePort } })
      for (let round = 0; round < 5; round++) {
        connections = 0
        yield* Effect.scoped(Effect.gen(function*() {
          yield* listen(machinePort)
          for (let i = 0; i < 20; i++) {
            assert.deepStrictEqual(yield* post(port, path, token, `body ${i}`), { status: 200, text: `body ${i}` })
          }
          assert.strictEqual(connections, 1)
        }))
      }
    }))

  it.scoped("that the machine closes while it is idle costs no request", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      let closed: Promise<unknown> = Promise.resolve()
      const machine = yield* startUpstream((req, res) => {
        const { socket } = req
        // Closed after the answer without a word that it will be, as by a server whose patience ended.
        closed = once(socket, "close")
        req.resume().on("end", () => res.end("ok", () => setTimeout(() => socket.destroy(), 1)))
      })
      const { path, token } = yield* newServer({ machine })
      for (let i = 0; i < 200; i++) {
        const sent = yield* post(port, path, token, "x".repeat(i), ["POST", "PATCH", "PUT", "DELETE"][i % 4])
        assert.deepStrictEqual(sent, { status: 200, text: "ok" })
        yield* Effect.promise(() => closed)
      }
    }))

  it.scoped("that the machine closes at the very moment costs no request that may be sent twice", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((req, res) => {
        req.resume().on("end", () => res.end("ok", () => setTimeout(() => req.socket.destroy(), Math.random() * 4)))
      })
      const { path, token } = yield* newServer({ machine })
      for (let i = 0; i < 150; i++) {
        const sent = yield* post(port, path, token, "x".repeat(i), ["PUT", "DELETE"][i % 2])
        assert.deepStrictEqual(sent, { status: 200, text: "ok" })
        yield* Effect.promise(() => pause(Math.random() * 5))
      }
    }))

  it.scoped("that breaks under a call is not tried again: the call may have run", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      let calls = 0
      const machine = yield* startUpstream((req, res) => {
        req.resume().on("end", () => {
          if (req.url === "/warm") return void res.end("ok")
          calls++
          req.socket.destroy()
        })
      })
      const { path, token } = yield* newServer({ machine })
      yield* post(port, `${path}/warm`, token, "")
      assert.strictEqual((yield* post(port, `${path}/call`, token, "x")).status, 502)
      assert.strictEqual(calls, 1)
    }))

  it.scoped("that can't be made is a 502, and the next request finds the machine's new place", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: { _tag: "Unix", path: "/nonexistent/machine.sock" } })
      const failed = yield* post(port, server.path, server.token, "x")
      assert.strictEqual(failed.status, 502)
      assert.include(failed.text, "BAD_GATEWAY")
      yield* deploy(server.id, yield* startUpstream((req, res) => void req.pipe(res)))
      assert.deepStrictEqual(yield* post(port, server.path, server.token, "moved"), { status: 200, text: "moved" })
    }))
})
