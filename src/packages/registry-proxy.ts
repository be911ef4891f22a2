import { type ImageError, imageError } from "#src/images/ImageError.ts"
import { type GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, request as send, type Server, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { type Duplex } from "node:stream"

/** Bytes that one installation may fetch. */
const most = 1024 ** 3

export interface RegistryProxy {
  readonly url: string
  /** What was not let through explains a failure better than the installer does. */
  readonly explain: (error: ImageError) => ImageError
}

/** What a registry's packages are fetched by: its origins, and the setting that names another registry. */
export interface RegistryPlace {
  readonly origins: ReadonlyArray<string>
  readonly setting: "NPM_REGISTRY" | "PYPI_INDEX"
}

const addressOf = (http: GuardedHttp, origin: string) =>
  Effect.map(http.check(`${origin}/`), ({ addresses: [first] }) => first!.address)

/**
 * The only way out of an installer: an HTTP proxy on loopback that leads to the given origins, at addresses that the
 * guarded client lets through, and nowhere else. What a package names as its dependency is its author's choice.
 */
export const startRegistryProxy = (
  http: GuardedHttp,
  { origins, setting }: RegistryPlace
): Effect.Effect<RegistryProxy, ImageError, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Duplex>()
    let left = most
    let complaint: string | undefined
    /** Installers try again: it is what went wrong only until a connection is made. */
    let unreached: string | undefined

    const refuse = (reason: string) => {
      complaint ??= reason
      return reason
    }
    const missed = (what: string) => {
      unreached = `${what}; where this host has no way there, its operator names a mirror in ${setting}`
    }
    const notConnected = (host: string) => (error: NodeJS.ErrnoException) => {
      if (error.syscall === "connect") missed(`${host} could not be reached: ${error.code ?? error.message}`)
    }
    const closeAll = () => {
      for (const socket of sockets) socket.destroy()
    }
    const count = (socket: Duplex) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
      socket.on("error", () => {})
      socket.on("data", (chunk: Buffer) => {
        left -= chunk.length
        if (left >= 0) return
        refuse(`the package and what it needs are larger than ${most / 1024 ** 3} GiB`)
        closeAll()
      })
    }
    const find = (origin: string): Promise<string | undefined> =>
      Effect.runPromise(
        origins.includes(origin)
          ? Effect.catchAll(
            addressOf(http, origin),
            (error) => Effect.sync(() => void (error.reason === "unreachable" ? missed : refuse)(error.message))
          )
          : Effect.sync(() => void refuse(`${origin} is not the registry; packages come from ${origins.join(" and ")}`))
      )

    const tunnel = async ({ url = "" }: IncomingMessage, client: Duplex, head: Buffer) => {
      client.on("error", () => {})
      const [host = "", port = "443"] = url.split(/:(?=\d+$)/)
      const address = await find(`https://${host}${port === "443" ? "" : `:${port}`}`)
      if (address === undefined) return client.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      const upstream: Socket = connect(Number(port), address)
      count(upstream)
      client.on("close", () => upstream.destroy())
      upstream.on("error", () => client.destroy())
      upstream.on("error", notConnected(host))
      upstream.once("connect", () => {
        unreached = undefined
        client.write("HTTP/1.1 200 Connection established\r\n\r\n")
        upstream.write(head)
        upstream.pipe(client)
        client.pipe(upstream)
      })
    }

    const forward = async (incoming: IncomingMessage, response: ServerResponse) => {
      const [, origin = "", path = "/"] = /^(http:\/\/[^/]+)(.*)$/.exec(incoming.url ?? "") ?? []
      const address = await find(origin)
      if (address === undefined) return response.writeHead(403).end()
      const { hostname, port } = new URL(origin)
      const { "proxy-connection": _, ...headers } = incoming.headers
      const options = { host: address, port: port || 80, path, method: incoming.method, agent: false, setHost: false }
      const outgoing = send({
        ...options,
        headers: { ...headers, host: port === "" ? hostname : `${hostname}:${port}` }
      })
      outgoing.on("error", () => response.destroy())
      outgoing.on("error", notConnected(hostname))
      response.on("close", () => outgoing.destroy())
      outgoing.once("socket", count)
      outgoing.once("response", (answer) => {
        unreached = undefined
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(outgoing)
    }

    const server: Server = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          const made = createServer((incoming, response) => void forward(incoming, response))
          made.on("connect", (incoming, socket, head) => void tunnel(incoming, socket, head))
          await once(made.listen(0, "127.0.0.1"), "listening")
          return made
        },
        catch: (error) => imageError("storage", `The way to the registry can't be opened: ${String(error)}`)
      }),
      (made) =>
        Effect.sync(() => {
          closeAll()
          made.closeAllConnections()
          made.close()
        })
    )
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      explain: (error) => {
        if (complaint !== undefined) return imageError("not_allowed", complaint)
        return unreached === undefined ? error : imageError("unreachable", unreached)
      }
    }
  })
