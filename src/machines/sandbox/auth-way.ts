import { isIP } from "node:net"
import { type MachineSockets } from "./machine-sockets.ts"

/** The route from machines to the authorization server, which every machine reaches. */
export interface AuthWay extends MachineSockets {
  /** The host name to map to loopback inside, where the keeper listens; empty when it needs no mapping. */
  readonly name: string
  readonly port: number
}

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** `AUTH_URL` as machines see it; undefined when it can't be routed: an IP address that is not loopback. */
export const insideAddress = (authUrl: string): Pick<AuthWay, "name" | "port"> | undefined => {
  const { hostname, port, protocol } = new URL(authUrl)
  const isName = !hostname.startsWith("[") && isIP(hostname) === 0
  if (!loopback.test(hostname) && !isName) return undefined
  return { name: loopback.test(hostname) ? "" : hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) }
}
