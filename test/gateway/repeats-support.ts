import { listen } from "#http/front/listen.ts"
import { makeGateway } from "#http/gateway/Gateway.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { newServer } from "./support.ts"

/** The main listener, and how many requests it served past Node's parser; `isOn`: false leaves all of them to Node. */
export const startListener = (isOn = true) =>
  Effect.gen(function*() {
    const gateway = yield* makeGateway
    const settings = yield* CurrentSettings
    const count = { taken: 0 }
    const { holds, learn, serve } = gateway.repeats
    const repeats: typeof gateway.repeats = {
      holds,
      learn: (req) => isOn ? learn(req) : undefined,
      serve: (...request) => {
        count.taken++
        serve(...request)
      }
    }
    const server = yield* listen(
      { ...settings, host: "127.0.0.1", port: 0 },
      { ...gateway, repeats },
      (_req, res) => void res.writeHead(418, { "Content-Length": 8 }).end("platform")
    ).pipe(Effect.provide(Shutdown.Default))
    return { count, server, port: (server.address() as AddressInfo).port }
  })

interface Asked {
  readonly text: string
  readonly body: string
  readonly socket: Socket
}

/** A machine that writes bytes: what a body says, `answer` writes. It reads requests with a length, or chunked. */
export const startMachine = (answer: (asked: Asked) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer({ noDelay: true }, (socket) => {
        sockets.add(socket)
        let read = ""
        socket.on("error", () => undefined).on("close", () => sockets.delete(socket)).on("data", (chunk) => {
          read += chunk.toString("latin1")
          for (let end = endOf(read); end !== undefined; end = endOf(read)) {
            const text = read.slice(0, end)
            read = read.slice(end)
            answer({ text, body: text.slice(text.indexOf("\r\n\r\n") + 4), socket })
          }
        })
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      return { server, sockets }
    }),
    ({ server, sockets }) =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  ).pipe(Effect.map(({ server }) => ({
    _tag: "Tcp" as const,
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port
  })))

/** Where the first message ends; undefined: later. */
const endOf = (text: string) => {
  const head = text.indexOf("\r\n\r\n") + 4
  if (head === 3) return undefined
  const before = text.slice(0, head)
  const last = /\r\ntransfer-encoding: chunked\r/i.test(before) ? text.indexOf("0\r\n\r\n", head) : -1
  if (/\r\ntransfer-encoding: chunked\r/i.test(before)) return last === -1 ? undefined : last + 5
  const end = head + Number(/\r\ncontent-length: (\d+)/i.exec(before)?.[1] ?? "0")
  return text.length < end ? undefined : end
}

export const plain = (body: string, ...headers: ReadonlyArray<string>) =>
  [`HTTP/1.1 200 OK`, ...headers, `Content-Length: ${body.length}`, "", body].join("\r\n")

export const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** What differs between two answers that are the same. */
const masked = (text: string) => text.replace(/^(Date|X-Request-Id|X-RateLimit-\w+): .*$/gim, "$1: *")

/** A client that writes bytes, and cuts what comes into answers. */
const openClient = async (port: number) => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => undefined)
  await once(socket, "connect")
  const answers: Array<string> = []
  let read = ""
  let isOver = false
  socket.on("close", () => isOver = true).on("data", (chunk) => {
    read += chunk.toString("latin1")
    for (let end = endOf(read); end !== undefined; end = endOf(read)) {
      answers.push(masked(read.slice(0, end)))
      read = read.slice(end)
    }
  })
  return {
    socket,
    answers,
    isOver: () => isOver,
    /** Parts of an answer that has not ended. */
    rest: () => read,
    /** Each part as a packet of its own. */
    write: async (...parts: ReadonlyArray<string>) => {
      for (const [i, part] of parts.entries()) {
        if (i > 0) await pause(2)
        if (!isOver) socket.write(part, "latin1")
      }
    },
    /** Waits for as many in total, or the end. */
    until: async (count: number) => {
      for (
        const before = performance.now();
        answers.length < count && !isOver && performance.now() - before < 5_000;
      ) {
        await pause(1)
      }
      return answers
    }
  }
}

const warm = "warm"
export const requestOf = (head: string, body: string) => `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** A client whose next request with that head is one that repeats it. */
export const warmClient = async (port: number, head: string) => {
  const client = await openClient(port)
  for (let i = 1; i <= 3; i++) {
    await client.write(requestOf(head, warm))
    await client.until(i)
  }
  client.answers.length = 0
  return client
}

const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"
const events =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n"

/** What machines answer, by the body that asks for it. */
export const kinds: Readonly<Record<string, string>> = {
  chunks,
  events,
  nothing: "HTTP/1.1 204 No Content\r\n\r\n",
  empty: plain(""),
  big: plain("b".repeat(1_000_000)),
  middle: plain("m".repeat(20_000)),
  failed: plain("failed").replace("200 OK", "500 "),
  latin: plain("\u00e9", "X-Latin: \u00e9", "Content-Disposition: attachment; filename=\"\u00c3\u00a9\""),
  mute: plain("trailer", "Trailer: X-Trailer"),
  invalid: plain("invalid", "X-Bad: a\u0001b"),
  wrong: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nwrong!",
  dies: ""
}

/** A server whose machine answers each kind, or with its number, and a listener. */
export const setUp = Effect.gen(function*() {
  const held: Array<Socket> = []
  const got: Array<string> = []
  const machine = yield* startMachine(({ body, socket, text }) => {
    got.push(text)
    const kind = Object.hasOwn(kinds, body) ? kinds[body] : undefined
    if (body.startsWith("hold")) held.push(socket)
    else if (body.startsWith("slow")) setTimeout(() => socket.write(chunks), 30)
    else if (kind === "") socket.destroy()
    else socket.write(kind ?? plain(`got ${body}`))
  })
  const server = yield* newServer({ machine })
  const headWith = (token: string, start = `POST ${server.path}/mcp HTTP/1.1`) =>
    `${start}\r\nHost: berth.test\r\nAuthorization: Bearer ${token}`
  return { ...server, got, held, head: headWith(server.token), headWith }
})
