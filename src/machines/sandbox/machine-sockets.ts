import { Effect, type Scope } from "effect"
import { closeSync, constants, openSync, rmSync } from "node:fs"
import { type Server, type Socket } from "node:net"
import { basename, dirname } from "node:path"
import { withoutPlace } from "../socket-failure.ts"
import { SandboxError } from "./SandboxError.ts"

/** A Unix socket of the platform for each machine, to which its keeper relays connections. */
export interface MachineSockets {
  /** Starts to accept a machine's connections; the result is the socket's path. */
  readonly open: (machine: string) => Effect.Effect<string, SandboxError>
  readonly close: (machine: string) => void
  /** Hands each machine's connections to a server of its own, made by `makeServer`, until the scope closes. */
  readonly serve: (makeServer: (machine: string) => Server) => Effect.Effect<void, never, Scope.Scope>
}

/** A listening server that closes together with its connections. */
const listen = (server: Server, path: string, what: string) =>
  Effect.async<{ readonly close: () => void }, SandboxError>((resume) => {
    const sockets = new Set<Socket>()
    server.on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    // The machine's /proc/net/unix shows the path that was bound: through an open directory it tells nothing of the host.
    const directory = openSync(dirname(path), constants.O_DIRECTORY)
    const close = () => {
      server.close()
      closeSync(directory)
      for (const socket of sockets) socket.destroy()
    }
    // A platform that was killed leaves its socket behind.
    rmSync(path, { force: true })
    // Not `once`: a listening server emits an error also when descriptors run out.
    server.on("error", (error) => {
      resume(new SandboxError({ message: `its ${what} can't be opened: ${withoutPlace(error).message}` }))
    })
    server.listen(`/proc/self/fd/${directory}/${basename(path)}`, () => resume(Effect.succeed({ close })))
  })

/**
 * One socket for each machine, so that a connection proves which machine it comes from. The path is stable: machines
 * that outlive the platform reach the next one through it. `machines` are those that may have outlived it.
 */
export const machineSockets = (
  /** For messages: what the sockets are to a machine. */
  what: string,
  pathOf: (machine: string) => string,
  machines: ReadonlyArray<string>
): MachineSockets => {
  const registered = new Set(machines)
  const open = new Map<string, { readonly close: () => void }>()
  let makeServer: ((machine: string) => Server) | undefined

  const listenFor = (machine: string) =>
    Effect.suspend(() =>
      makeServer === undefined || open.has(machine)
        ? Effect.void
        : Effect.map(listen(makeServer(machine), pathOf(machine), what), (server) => void open.set(machine, server))
    )

  const close = (machine: string) => {
    open.get(machine)?.close()
    open.delete(machine)
  }

  return {
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
