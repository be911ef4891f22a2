import { makeGateway } from "#http/gateway/Gateway.ts"
import { listen } from "#http/front/listen.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

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
export const openClient = async (port: number) => {
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
    until: async (count: number, millis = 3_000) => {
      for (const before = performance.now(); answers.length < count && !isOver && performance.now() - before < millis;) {
        await pause(1)
      }
      return answers
    }
  }
}
export type Client = Awaited<ReturnType<typeof openClient>>
