import { Effect, type Scope } from "effect"
import { closeSync, constants, openSync, rmSync } from "node:fs"
import { type Server, type Socket } from "node:net"
import { basename } from "node:path"
import { withoutPlace } from "../socket-failure.ts"
import { type MachinePaths } from "./paths.ts"
import { SandboxError } from "./SandboxError.ts"
import { recordNames } from "./store.ts"

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
    const close = () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
    // Not `once`: a listening server emits an error also when descriptors run out.
    server.on("error", (error) => {
      resume(new SandboxError({ message: `its ${what} can't be opened: ${withoutPlace(error).message}` }))
    })
    server.listen(path, () => resume(Effect.succeed({ close })))
  })

/**
 * One socket for each machine, so that a connection proves which machine it comes from. The path is stable: machines
 * that outlive the platform reach the next one through it.
 */
export const machineSockets = (
  /** For messages: what the sockets are to a machine. */
  what: string,
  paths: MachinePaths,
  pathOf: (paths: MachinePaths, machine: string) => string
): MachineSockets => {
  const registered = new Set(recordNames(paths))
  const open = new Map<string, { readonly close: () => void }>()
  let serving: { readonly makeServer: (machine: string) => Server; readonly directory: number } | undefined

  // The machine's /proc/net/unix shows the path that was bound: through an open directory it tells nothing of the host.
  const listenFor = (machine: string) =>
    Effect.suspend(() => {
      if (serving === undefined || open.has(machine)) return Effect.void
      const path = pathOf(paths, machine)
      // A platform that was killed leaves its socket behind.
      rmSync(path, { force: true })
      const bound = `/proc/self/fd/${serving.directory}/${basename(path)}`
      return Effect.map(listen(serving.makeServer(machine), bound, what), (server) => void open.set(machine, server))
    })

  const close = (machine: string) => {
    open.get(machine)?.close()
    open.delete(machine)
  }

  return {
    open: (machine) =>
      Effect.suspend(() => {
        registered.add(machine)
        return Effect.as(listenFor(machine), pathOf(paths, machine))
      }),
    close: (machine) => {
      registered.delete(machine)
      close(machine)
      // A killed platform may have left it, with no listener since.
      rmSync(pathOf(paths, machine), { force: true })
    },
    serve: (makeServer) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          serving = { makeServer, directory: openSync(paths.sockets, constants.O_DIRECTORY) }
          return Effect.forEach(registered, (machine) =>
            Effect.catchAll(listenFor(machine), ({ message }) =>
              Effect.logWarning(`${machine}: ${message}`)), {
            discard: true
          })
        }),
        () =>
          Effect.sync(() => {
            for (const machine of [...open.keys()]) {
              close(machine)
            }
            if (serving !== undefined) {
              closeSync(serving.directory)
            }
            serving = undefined
          })
      )
  }
}
