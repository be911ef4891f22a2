import { Effect } from "effect"
import { rmSync } from "node:fs"
import { connect, createServer, isIP } from "node:net"

/** The one address outside that machines reach: the authorization server's. */
export interface AuthRelay {
  /** The name that means loopback inside, where the keeper listens; empty when it does by itself. */
  readonly name: string
  readonly port: number
  /** Where the platform takes the connections, and passes them on. */
  readonly socket: string
}

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** Undefined for an address that can't be led through: an IP address that is not loopback's. */
export const authRelayFor = (authUrl: string, socket: string): AuthRelay | undefined => {
  const { hostname, port, protocol } = new URL(authUrl)
  const isName = !hostname.startsWith("[") && isIP(hostname) === 0
  if (!loopback.test(hostname) && !isName) return undefined
  return {
    name: loopback.test(hostname) ? "" : hostname,
    port: Number(port) || (protocol === "https:" ? 443 : 80),
    socket
  }
}

const maxConnections = 1024

/**
 * Passes machines' connections on to `AUTH_URL` and to nowhere else, byte by byte: TLS is between the machine and the
 * authorization server. Machines that outlive the platform find the next one's socket at the same path.
 */
export const serveAuthRelay = ({ name, port, socket }: AuthRelay) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>, Error>((resume) => {
      rmSync(socket, { force: true })
      const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
        const target = connect({ host: name === "" ? "localhost" : name, port, allowHalfOpen: true })
        const end = () => {
          client.destroy()
          target.destroy()
        }
        client.on("error", end)
        target.on("error", end)
        target.on("connect", () => void client.pipe(target).pipe(client))
        client.on("close", () => target.writableFinished || target.destroy())
        target.on("close", () => client.writableFinished || client.destroy())
        client.setTimeout(60_000, end)
      })
      server.maxConnections = maxConnections
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(socket, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close())
  )
