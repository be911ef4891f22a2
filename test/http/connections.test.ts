import { connectionsOf, type IdleLimit } from "#http/connection/connections.ts"
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { networkInterfaces } from "node:os"
import { text } from "node:stream/consumers"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { Berth, useBerth } from "../support/Berth.ts"
import { describeWhen, itLong } from "../support/needs.ts"

const open: Array<Socket> = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})

const connected = async (port: number, host = "127.0.0.1") => {
  const socket = connect(port, host)
  open.push(socket)
  socket.on("error", () => undefined).resume()
  await once(socket, "connect")
  return socket
}

/** How many of these the other side has not closed, once that is so many. */
const left = async (sockets: ReadonlyArray<Socket>, count: number) => {
  const alive = () => sockets.filter((socket) => !socket.closed).length
  while (alive() > count) await new Promise((resolve) => setTimeout(resolve, 10))
  return alive()
}

describe("idle connections of one address", () => {
  let server: Server
  afterEach(() => void server.close().closeAllConnections())

  const listening = async (limit: Partial<IdleLimit>, listener: RequestListener = (_, res) => res.end("ok")) => {
    server = createServer({ keepAliveTimeout: 60_000 })
    const connections = connectionsOf(server, { max: 3, isLimited: () => true, minIdleMillis: 50, ...limit })
    server.on("request", (req, res) => {
      connections.begin(req, res, false)
      listener(req, res)
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return (server.address() as AddressInfo).port
  }
  const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

  it("are held to a number: the longest idle go, whether they sent nothing, half a head, or a request before", async () => {
    const port = await listening({})
    const silent = await connected(port)
    const half = await connected(port)
    half.write("GET / HTTP/1.1\r\nHost: x\r\nX-")
    const used = await connected(port)
    used.write(request)
    await once(used, "data")
    const later = [await connected(port), await connected(port), await connected(port)]
    expect(await left([silent, half, used, ...later], 3)).toBe(3)
    expect(later.map(({ closed }) => closed)).toEqual([false, false, false])
  })

  itLong("are none of those that have a request under way, or are idle for a moment", async () => {
    const answers: Array<() => void> = []
    const port = await listening({ minIdleMillis: 60_000 }, (_, res) => void answers.push(() => res.end("ok")))
    const busy = await Promise.all(Array.from({ length: 6 }, () => connected(port)))
    for (const socket of busy) socket.write(request)
    while (answers.length < 6) await new Promise((resolve) => setTimeout(resolve, 10))
    // Longer than it takes to look for idle ones.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(await left(busy, 6)).toBe(6)
    const heard = busy.map((socket) => once(socket, "data"))
    for (const answer of answers) answer()
    await Promise.all(heard)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(await left(busy, 6)).toBe(6)
  })

  itLong("are not limited where many clients share an address", async () => {
    const port = await listening({ isLimited: () => false })
    const sockets = await Promise.all(Array.from({ length: 10 }, () => connected(port)))
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(await left(sockets, 10)).toBe(10)
  })
})

const outside = Object.values(networkInterfaces()).flat()
  .find((address) => address?.internal === false && address.family === "IPv4")?.address

describeWhen(outside === undefined ? "this machine has no address of its own" : undefined, "a client", () => {
  const berth = useBerth({ variables: { HOST: "0.0.0.0", TRUST_PROXY: "0" } })

  /** Sends a head that has no end, while the other tests run. */
  let unfinished: Promise<{ readonly answer: string; readonly seconds: number }>
  beforeAll(async () => {
    const port = Number(new URL(berth.url).port)
    const started = performance.now()
    const half = connect(port, "127.0.0.1").on("error", () => undefined)
    const silent = connect(port, "127.0.0.1").on("error", () => undefined).resume()
    await Promise.all([once(half, "connect"), once(silent, "connect")])
    const closed = once(silent, "close")
    half.write("GET /v1/health HTTP/1.1\r\nHost: x\r\n")
    const dripping = setInterval(() => half.writable && half.write("X-A: b\r\n"), 500)
    unfinished = Promise.all([text(half), closed]).then(([answer]) => ({
      answer,
      seconds: (performance.now() - started) / 1_000
    })).finally(() => clearInterval(dripping))
  })

  itLong("elsewhere holds a hundred idle connections, programs on this machine more", async () => {
    const port = Number(new URL(berth.url).port)
    const own = await Promise.all(Array.from({ length: 110 }, () => connected(port)))
    const sockets = await Promise.all(Array.from({ length: 110 }, () => connected(port, outside)))
    expect(await left(sockets, 100)).toBe(100)
    expect(await left(own, 110)).toBe(110)
    expect((await fetch(`http://${outside}:${port}/v1/health`)).status).toBe(200)
  })

  itLong("behind a trusted proxy is not counted by the proxy's address", async () => {
    const proxied = await new Berth().start({ variables: { HOST: "0.0.0.0", TRUST_PROXY: "1" } })
    try {
      const port = Number(new URL(proxied.url).port)
      const sockets = await Promise.all(Array.from({ length: 110 }, () => connected(port, outside)))
      await new Promise((resolve) => setTimeout(resolve, 2_200))
      expect(await left(sockets, 110)).toBe(110)
    } finally {
      for (const socket of open) socket.destroy()
      await proxied.stop()
    }
  })

  itLong(
    "whose head does not come is answered 408 after 15 seconds, however it drips; a silent one ends too",
    async () => {
      const { answer, seconds } = await unfinished
      const [head = "", body = ""] = answer.split("\r\n\r\n")
      expect(head).toMatch(/^HTTP\/1\.1 408 /)
      expect(head).toMatch(/^x-request-id: /im)
      expect(JSON.parse(body)).toMatchObject({ error: { code: "REQUEST_TIMEOUT" } })
      expect(seconds).toBeGreaterThan(14)
      expect(seconds).toBeLessThan(25)
    },
    40_000
  )
})
