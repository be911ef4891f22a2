import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { freshAddress } from "../../support/http.ts"

export interface Door {
  /** Where the platform listens. */
  readonly platform: string
  readonly token?: string | undefined
  /** Instead of /mcp. */
  readonly path?: string
  /** Put before the path that was asked for. */
  readonly prefix?: string
  /** Instead of the Host that was asked for. */
  readonly host?: string
}

/**
 * The suite can't send a header: a proxy on loopback adds the token, and an address with a rate limit of its own, and
 * streams everything else as it comes.
 */
export const startDoorkeeper = async ({ host, platform, prefix = "", path: end = "/mcp", token }: Door) => {
  const { hostname, port } = new URL(platform)
  const added = {
    "x-forwarded-for": freshAddress(),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(host === undefined ? {} : { host })
  }
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, ...added }
    const path = `${prefix}${incoming.url}`
    const onward = request({ hostname, port, path, headers, method: incoming.method }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    outgoing.on("close", () => onward.destroy())
    incoming.pipe(onward)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${end}`, stop }
}
