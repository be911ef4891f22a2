import { GuardedHttp, type GuardedRequest, HostLookup, type ResolvedAddress } from "#src/shared/GuardedHttp.ts"
import { nextHop } from "#src/shared/redirect.ts"
import { describe, expect, it, vi } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { createServer, type RequestListener } from "node:http"
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net"
import { settingsTest } from "../support/Settings.ts"

const answers = (...addresses: ReadonlyArray<string>): ReadonlyArray<ResolvedAddress> =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))

type Lookup = (host: string) => Promise<ReadonlyArray<ResolvedAddress>>

const guarded = (allow: ReadonlyArray<string> = [], lookup?: Lookup) =>
  GuardedHttp.Default.pipe(
    Layer.provide(settingsTest({ ALLOWED_PRIVATE_HOSTS: allow.join(",") })),
    Layer.provide(lookup === undefined ? Layer.empty : Layer.succeed(HostLookup, lookup))
  )

const send = (request: GuardedRequest) => Effect.flatMap(GuardedHttp, (http) => http.send(request))
const refusal = (request: GuardedRequest) => Effect.flip(send(request))

const httpServer = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

/** Notes every connection, and what arrives first on it. */
const tripwire = Effect.gen(function*() {
  const heard: Array<string> = []
  const sockets = new Set<Socket>()
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createSocketServer>>((resume) => {
      const server = createSocketServer((socket) => {
        sockets.add(socket)
        heard.push("")
        socket.on("error", () => {})
        socket.on("data", (chunk) => {
          heard[heard.length - 1] += chunk.toString("latin1")
          socket.destroy()
        })
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        sockets.forEach((socket) => socket.destroy())
        server.close()
      })
  )
  return { heard, port: (server.address() as AddressInfo).port }
})

describe("the guarded client", () => {
  it.scopedLive.each(
    [
      ["a private answer", ["10.0.0.1"]],
      ["loopback", ["127.0.0.1"]],
      ["the metadata service", ["169.254.169.254"]],
      ["an IPv4-mapped address", ["::ffff:127.0.0.1"]],
      ["NAT64", ["64:ff9b::7f00:1"]],
      ["6to4", ["2002:7f00:1::"]],
      ["unique local", ["fd00::1"]],
      ["one private record among public ones", ["93.184.215.14", "10.0.0.1"]],
      ["one mapped record among public ones", ["93.184.215.14", "::ffff:10.0.0.1"]]
    ] as const
  )("refuses a name that resolves to %s", ([, addresses]) =>
    Effect.gen(function*() {
      const error = yield* refusal({ url: "https://name.example/" })
      expect(error.reason).toBe("refused")
      expect(error.message).toContain("name.example")
      for (const address of addresses) expect(error.message).not.toContain(address)
    }).pipe(Effect.provide(guarded([], () => Promise.resolve(answers(...addresses))))))

  it.scopedLive.each([
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "10.0.0.1",
    "169.254.169.254",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fd00:ec2::254]"
  ])("refuses the literal %s without asking the resolver", (literal) =>
    Effect.gen(function*() {
      const wire = yield* tripwire
      const error = yield* refusal({ url: `https://${literal}:${wire.port}/` })
      expect(error.reason).toBe("refused")
      expect(wire.heard).toEqual([])
    }).pipe(Effect.provide(guarded([], () => Promise.reject(new Error("asked"))))))

  it.scopedLive("refuses http, other schemes, passwords and what is no URL", () =>
    Effect.gen(function*() {
      for (
        const url of [
          "http://one.example/",
          "ftp://one.example/",
          "file:///etc/passwd",
          "https://me:pw@one.example/",
          "https://me@one.example/",
          "nothing",
          ""
        ]
      ) {
        expect((yield* refusal({ url })).reason).toBe("refused")
      }
    }).pipe(Effect.provide(guarded([], () => Promise.resolve(answers("93.184.215.14"))))))

  it.scopedLive("asks the resolver once and connects only to the answer it checked (rebinding)", () =>
    Effect.gen(function*() {
      const wire = yield* tripwire
      let asked = 0
      // Public for the check (of a block that nobody was given), private for whoever asks again.
      const rebind = () => Promise.resolve(asked++ === 0 ? answers("2000::1") : answers("127.0.0.1"))
      const late = yield* refusal({ url: `https://rebind.example:${wire.port}/`, totalMs: 500 }).pipe(
        Effect.provide(guarded([], rebind))
      )
      expect(["timeout", "unreachable"]).toContain(late.reason)
      expect(asked).toBe(1)
      expect(wire.heard).toEqual([])
    }))

  it.scopedLive("connects an excepted host to the address of its one look-up, keeping its name in TLS", () =>
    Effect.gen(function*() {
      const wire = yield* tripwire
      let asked = 0
      const lookup = () => Promise.resolve(asked++ === 0 ? answers("127.0.0.1") : answers("127.0.0.2"))
      const error = yield* refusal({ url: `https://sni.example:${wire.port}/` }).pipe(
        Effect.provide(guarded([`sni.example:${wire.port}`], lookup))
      )
      expect(error.reason).toBe("unreachable")
      expect(asked).toBe(1)
      expect(wire.heard).toHaveLength(1)
      expect(wire.heard[0]).toContain("sni.example")
    }))

  it.scopedLive("speaks plain http to an excepted host and port, and to no other port of it", () =>
    Effect.gen(function*() {
      const port = yield* httpServer((request, response) => response.end(request.headers.host))
      const other = yield* httpServer((_request, response) => response.end("other"))
      yield* Effect.gen(function*() {
        const answer = yield* send({ url: `http://127.0.0.1:${port}/` })
        expect([answer.status, answer.body.toString()]).toEqual([200, `127.0.0.1:${port}`])
        expect((yield* refusal({ url: `http://127.0.0.1:${other}/` })).reason).toBe("refused")
      }).pipe(Effect.provide(guarded([`127.0.0.1:${port}`])))
    }))

  it.scopedLive("ignores proxies of the environment, sends no cookies back", () =>
    Effect.gen(function*() {
      const wire = yield* tripwire
      const cookies: Array<string | undefined> = []
      const port = yield* httpServer((request, response) => {
        cookies.push(request.headers.cookie)
        response.setHeader("set-cookie", "a=b").end()
      })
      vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${wire.port}`)
      vi.stubEnv("NODE_USE_ENV_PROXY", "1")
      yield* Effect.addFinalizer(() => Effect.sync(() => void vi.unstubAllEnvs()))
      yield* Effect.provide(
        Effect.repeatN(send({ url: `http://127.0.0.1:${port}/` }), 1),
        guarded([`127.0.0.1:${port}`])
      )
      expect(cookies).toEqual([undefined, undefined])
      expect(wire.heard).toEqual([])
    }))

  it.scopedLive("hands a redirect to its caller instead of following it", () =>
    Effect.gen(function*() {
      const wire = yield* tripwire
      const port = yield* httpServer((_request, response) =>
        response.writeHead(307, { location: `http://127.0.0.1:${wire.port}/` }).end()
      )
      const request = { url: `http://127.0.0.1:${port}/` }
      yield* Effect.gen(function*() {
        const answer = yield* send(request)
        expect(answer.status).toBe(307)
        const next = nextHop(request, answer)
        expect(next?.url).toBe(`http://127.0.0.1:${wire.port}/`)
        expect((yield* refusal(next ?? request)).reason).toBe("refused")
      }).pipe(Effect.provide(guarded([`127.0.0.1:${port}`])))
      expect(wire.heard).toEqual([])
    }))

  it.scopedLive("takes no more bytes than the caller wants, announced or not", () =>
    Effect.gen(function*() {
      const port = yield* httpServer((request, response) => {
        if (request.url === "/announced") response.setHeader("content-length", 2000)
        response.write(Buffer.alloc(1000))
        response.end(Buffer.alloc(1000))
      })
      yield* Effect.gen(function*() {
        for (const path of ["announced", "chunked"]) {
          const url = `http://127.0.0.1:${port}/${path}`
          expect((yield* refusal({ url, maxBytes: 1999 })).reason).toBe("too_large")
          expect((yield* send({ url, maxBytes: 2000 })).body).toHaveLength(2000)
        }
      }).pipe(Effect.provide(guarded([`127.0.0.1:${port}`])))
    }))

  it.scopedLive("gives up on silence, on a trickle, and on a look-up that hangs", () =>
    Effect.gen(function*() {
      const port = yield* httpServer((request, response) => {
        if (request.url === "/silent") return
        const drip = setInterval(() => response.write("."), 20)
        response.on("close", () => clearInterval(drip))
      })
      yield* Effect.gen(function*() {
        const base = `http://127.0.0.1:${port}`
        expect((yield* refusal({ url: `${base}/silent`, idleMs: 100 })).reason).toBe("timeout")
        expect((yield* refusal({ url: `${base}/silent`, totalMs: 100 })).reason).toBe("timeout")
        expect((yield* refusal({ url: `${base}/drip`, totalMs: 300, idleMs: 200 })).reason).toBe("timeout")
      }).pipe(Effect.provide(guarded([`127.0.0.1:${port}`])))
      const hung = yield* refusal({ url: "https://hang.example/", totalMs: 100 }).pipe(
        Effect.provide(guarded([], () => new Promise(() => {})))
      )
      expect(hung.reason).toBe("timeout")
    }))

  it.scopedLive("tells an unknown host, a refused connection, a broken answer and a bad header apart from success", () =>
    Effect.gen(function*() {
      const wire = yield* tripwire
      const gone = yield* httpServer((_request, response) => {
        response.writeHead(200, { "content-length": 10 }).write("half")
        setTimeout(() => response.destroy(), 20)
      })
      yield* Effect.gen(function*() {
        expect((yield* refusal({ url: `http://127.0.0.1:${gone}/` })).reason).toBe("unreachable")
        expect((yield* refusal({ url: `http://127.0.0.1:${wire.port}/` })).reason).toBe("unreachable")
        expect((yield* refusal({ url: "http://127.0.0.1:1/" })).reason).toBe("unreachable")
        expect((yield* refusal({ url: "https://unknown.invalid/" })).reason).toBe("unreachable")
        const headers = { authorization: "Bearer a\r\nx: y" }
        expect((yield* refusal({ url: `http://127.0.0.1:${gone}/`, headers })).reason).toBe("refused")
      }).pipe(Effect.provide(guarded([`127.0.0.1:${gone}`, `127.0.0.1:${wire.port}`, "127.0.0.1:1"])))
    }))

  it.scopedLive("closes the connection when it is interrupted", () =>
    Effect.gen(function*() {
      let closed = false
      let arrived = () => {}
      const request = new Promise<void>((resolve) => arrived = resolve)
      const port = yield* httpServer((request) => {
        arrived()
        request.socket.on("close", () => closed = true)
      })
      const fiber = yield* Effect.fork(
        Effect.provide(send({ url: `http://127.0.0.1:${port}/` }), guarded([`127.0.0.1:${port}`]))
      )
      yield* Effect.promise(() => request)
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep("50 millis")
      expect(closed).toBe(true)
    }))
})

describe("the next hop of a redirect", () => {
  const request: GuardedRequest = {
    url: "https://one.example/a/b",
    headers: { Authorization: "Bearer t", accept: "*/*" },
    maxBytes: 7
  }
  const hop = (status: number, location?: string, from: GuardedRequest = request) =>
    nextHop(from, { status, headers: location === undefined ? {} : { location } })

  it("keeps credentials on the same origin only", () => {
    expect(hop(307, "../c")).toEqual({ ...request, url: "https://one.example/c" })
    for (
      const other of [
        "https://two.example/",
        "https://one.example:444/",
        "http://one.example/",
        "//two.example/",
        "https://one.example.evil.example/"
      ]
    ) {
      expect(hop(307, other)?.headers).toEqual({ accept: "*/*" })
      expect(hop(307, other)?.maxBytes).toBe(7)
    }
  })

  it("is none without a redirect status or a readable Location", () => {
    expect(hop(200, "https://two.example/")).toBeUndefined()
    expect(hop(304, "https://two.example/")).toBeUndefined()
    expect(hop(302)).toBeUndefined()
    expect(hop(302, "https://")).toBeUndefined()
  })

  it("turns a POST into a GET without a body as browsers do, but not for 307 and 308", () => {
    const post: GuardedRequest = { ...request, method: "POST", body: "x" }
    for (const status of [301, 302, 303]) expect(hop(status, "/n", post)).toMatchObject({ method: "GET" })
    for (const status of [301, 302, 303]) expect(hop(status, "/n", post)).not.toHaveProperty("body")
    for (const status of [307, 308]) expect(hop(status, "/n", post)).toMatchObject({ method: "POST", body: "x" })
  })
})
