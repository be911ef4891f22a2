import { machineAddress } from "#src/machines/machine-address.ts"
import { connect, createServer, type NetConnectOpts, type Server } from "node:net"
import { type AuthProxy } from "./auth-proxy.ts"

const maxConnections = 64
const idleMillis = 60_000

/**
 * Relays machines' connections, byte by byte, to an https `AUTH_URL` only: TLS is between the machine and the proxy in
 * front of the authorization server. A proxy on this host sees a source address of its own for each machine and passes
 * it on (`X-Forwarded-For`), so that the platform recognises a machine's requests.
 */
export const tlsServers = (proxy: AuthProxy) => {
  const usedAddresses = new Set<string>()
  const routeFrom = async (source: string): Promise<NetConnectOpts> => {
    const { host, port } = proxy
    const own = await proxy.ownAddress()
    return own !== undefined && await proxy.acceptsMachines(own)
      ? { host: own, port, localAddress: source }
      : { host, port }
  }
  return (machine: string): Server => {
    const source = machineAddress(machine, (address) => usedAddresses.has(address))
    usedAddresses.add(source)
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      client.on("error", () => client.destroy())
      client.setTimeout(idleMillis, () => client.destroy())
      routeFrom(source).then((route) => {
        if (client.destroyed) return
        const outward = connect({ ...route, allowHalfOpen: true })
        outward.setTimeout(idleMillis, () => outward.destroy())
        outward.on("error", () => client.destroy())
        outward.on("connect", () => void client.pipe(outward).pipe(client))
        outward.on("close", () => client.writableFinished || client.destroy())
        client.on("close", () => outward.writableFinished || outward.destroy())
      })
    })
    server.maxConnections = maxConnections
    server.once("close", () => usedAddresses.delete(source))
    return server
  }
}
