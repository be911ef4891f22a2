import { machineAddress } from "#src/machines/machine-address.ts"
import { connect, createServer, type NetConnectOpts, type Server } from "node:net"
import { type AuthProxy } from "./auth-proxy.ts"

const maxConnections = 64
const idleMillis = 60_000

/**
 * Passes machines' connections on to an `AUTH_URL` of https and to nowhere else, byte by byte: TLS is between the machine
 * and the proxy in front of the authorization server. A proxy on this host sees each machine come from an address of its
 * own and tells the platform (`X-Forwarded-For`), which knows a machine's requests by it.
 */
export const tlsServers = (proxy: AuthProxy) => {
  const taken = new Set<string>()
  const wayFrom = async (source: string): Promise<NetConnectOpts> => {
    const { host, port } = proxy
    const own = await proxy.ownAddress()
    return own !== undefined && await proxy.takesMachines(own)
      ? { host: own, port, localAddress: source }
      : { host, port }
  }
  return (machine: string): Server => {
    const source = machineAddress(machine, (address) => taken.has(address))
    taken.add(source)
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      client.on("error", () => client.destroy())
      client.setTimeout(idleMillis, () => client.destroy())
      wayFrom(source).then((way) => {
        if (client.destroyed) return
        const outward = connect({ ...way, allowHalfOpen: true })
        outward.setTimeout(idleMillis, () => outward.destroy())
        outward.on("error", () => client.destroy())
        outward.on("connect", () => void client.pipe(outward).pipe(client))
        outward.on("close", () => client.writableFinished || client.destroy())
        client.on("close", () => outward.writableFinished || outward.destroy())
      })
    })
    server.maxConnections = maxConnections
    server.once("close", () => taken.delete(source))
    return server
  }
}
