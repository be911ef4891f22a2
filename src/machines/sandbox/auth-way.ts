import { messageOf } from "#src/shared/message-of.ts"
import { Effect, type Scope } from "effect"
import { rmSync } from "node:fs"
import { isIP, type Server, type Socket } from "node:net"
import { SandboxError } from "./SandboxError.ts"

/** The route from machines to the authorization server, the only outside address that they reach. */
export interface AuthWay {
  /** The host name to map to loopback inside, where the keeper listens; empty when it needs no mapping. */
  readonly name: string
  readonly port: number
  /** Starts to accept a machine's connections; the result is the socket's path. */
  readonly open: (machine: string) => Effect.Effect<string, SandboxError>
  readonly close: (machine: string) => void
  /** Hands each machine's connections to a server of its own, made by `makeServer`, until the scope closes. */
  readonly serve: (makeServer: (machine: string) => Server) => Effect.Effect<void, never, Scope.Scope>
}

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** `AUTH_URL` as machines see it; undefined when it can't be routed: an IP address that is not loopback. */
export const insideAddress = (authUrl: string): Pick<AuthWay, "name" | "port"> | undefined => {
  const { hostname, port, protocol } = new URL(authUrl)
  const isName = !hostname.startsWith("[") && isIP(hostname) === 0
  if (!loopback.test(hostname) && !isName) return undefined
  return { name: loopback.test(hostname) ? "" : hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) }
}

/** A listening server that closes together with its connections. */
const listen = (server: Server, path: string) =>
  Effect.async<{ readonly close: () => void }, SandboxError>((resume) => {
    const sockets = new Set<Socket>()
    server.on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    const close = () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
    // A platform that was killed leaves its socket behind.
    rmSync(path, { force: true })
    // Not `once`: a listening server emits an error also when descriptors run out.
    server.on("error", (error) => {
      resume(new SandboxError({ message: `its way to AUTH_URL can't be opened: ${messageOf(error)}` }))
    })
    server.listen(path, () => resume(Effect.succeed({ close })))
  })

/**
 * One socket for each machine, so that a connection proves which machine it comes from. The path is stable: machines
 * that outlive the platform reach the next one through it. `machines` are those that may have outlived it.
 */
export const makeAuthWay = (
  inside: Pick<AuthWay, "name" | "port">,
  pathOf: (machine: string) => string,
  machines: ReadonlyArray<string>
): AuthWay => {
  const registered = new Set(machines)
  const open = new Map<string, { readonly close: () => void }>()
  let makeServer: ((machine: string) => Server) | undefined

  const listenFor = (machine: string) =>
    Effect.suspend(() =>
      makeServer === undefined || open.has(machine)
        ? Effect.void
        : Effect.map(listen(makeServer(machine), pathOf(machine)), (server) => void open.set(machine, server))
    )

  const close = (machine: string) => {
    open.get(machine)?.close()
    open.delete(machine)
  }

  return {
    ...inside,
    open: (machine) =>
      Effect.suspend(() => {
        registered.add(machine)
        return Effect.as(listenFor(machine), pathOf(machine))
      }),
    close: (machine) => {
      registered.delete(machine)
      close(machine)
      // A killed platform may have left it, with no listener since.
      rmSync(pathOf(machine), { force: true })
    },
    serve: (make) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          makeServer = make
          return Effect.forEach(registered, (machine) =>
            Effect.catchAll(listenFor(machine), ({ message }) =>
              Effect.logWarning(`${machine}: ${message}`)), {
            discard: true
          })
        }),
        () =>
          Effect.sync(() => {
            makeServer = undefined
            for (const machine of [...open.keys()]) {
              close(machine)
            }
          })
      )
  }
}
