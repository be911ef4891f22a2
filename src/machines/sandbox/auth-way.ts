import { messageOf } from "#src/shared/message-of.ts"
import { Effect, type Scope } from "effect"
import { rmSync } from "node:fs"
import { isIP, type Server, type Socket } from "node:net"
import { SandboxError } from "./SandboxError.ts"

/** The one address outside that machines reach, the authorization server's, and the sockets that lead there. */
export interface AuthWay {
  /** The name that means loopback inside, where the keeper listens; empty when it does by itself. */
  readonly name: string
  readonly port: number
  /** Takes a machine's connections from now on, at the socket in the answer. */
  readonly open: (machine: string) => Effect.Effect<string, SandboxError>
  readonly close: (machine: string) => void
  /** Connections are made to servers of this kind, one for each machine, until the scope closes. */
  readonly serve: (makeServer: (machine: string) => Server) => Effect.Effect<void, never, Scope.Scope>
}

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** Where machines think `AUTH_URL` is; undefined for what can't be led through: an IP address that is not loopback's. */
export const insideAddress = (authUrl: string): Pick<AuthWay, "name" | "port"> | undefined => {
  const { hostname, port, protocol } = new URL(authUrl)
  const isName = !hostname.startsWith("[") && isIP(hostname) === 0
  if (!loopback.test(hostname) && !isName) return undefined
  return { name: loopback.test(hostname) ? "" : hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) }
}

/** A listening server that can be closed with everything on it. */
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
    // What a platform that was killed has left.
    rmSync(path, { force: true })
    // It stays: running out of descriptors is an error of a listening server, too.
    server.on("error", (error) => {
      resume(new SandboxError({ message: `its way to AUTH_URL can't be opened: ${messageOf(error)}` }))
    })
    server.listen(path, () => resume(Effect.succeed({ close })))
  })

/**
 * A socket for each machine: whatever comes out of it is that machine's, and can't be taken for another's. The path stays
 * the same, so that machines that outlive the platform find the next one; `machines` are those that may have.
 */
export const makeAuthWay = (
  inside: Pick<AuthWay, "name" | "port">,
  pathOf: (machine: string) => string,
  machines: ReadonlyArray<string>
): AuthWay => {
  const known = new Set(machines)
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
        known.add(machine)
        return Effect.as(listenFor(machine), pathOf(machine))
      }),
    close: (machine) => {
      known.delete(machine)
      close(machine)
      // A platform that was killed left it, if nobody listened there since.
      rmSync(pathOf(machine), { force: true })
    },
    serve: (make) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          makeServer = make
          return Effect.forEach(known, (machine) =>
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
