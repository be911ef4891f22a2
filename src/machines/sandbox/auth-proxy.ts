import { platformAddress } from "#src/machines/machine-address.ts"
import { lookup } from "node:dns/promises"
import { request } from "node:https"
import { connect, isIP, isIPv4, type NetConnectOpts } from "node:net"
import { networkInterfaces } from "node:os"
import type { AuthReach } from "./guarantees.ts"

const timeoutMillis = 1_000
/** How long a negative result is kept before the proxy is probed again. */
const reprobeMillis = 60_000

const isOwn = (address: string) =>
  isIPv4(address) && (
    address.startsWith("127.") || Object.values(networkInterfaces()).flat().some((one) => one?.address === address)
  )

const connects = (options: NetConnectOpts) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(options)
    const settle = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(timeoutMillis, () => settle(false))
    socket.once("connect", () => settle(true)).once("error", () => settle(false))
  })

/** Whether it accepts connections from machines' addresses; undefined when it accepts none from any address. */
const acceptsMachineAddresses = async (target: { readonly host: string; readonly port: number }) =>
  await connects({ ...target, localAddress: platformAddress }) ? true : await connects(target) ? false : undefined

/** The proxy in front of an https `AUTH_URL`. */
export const authProxy = (authUrl: string) => {
  const { host: authority, hostname, pathname, port: named } = new URL(authUrl)
  const host = hostname.replace(/^\[|\]$/g, "")
  const port = Number(named) || 443
  let lastProbe: { readonly at: number; readonly accepted: Promise<boolean | undefined> } | undefined

  /** Its address if it is on this host: only then can a connection choose its (loopback) source address. */
  const ownAddress = (): Promise<string | undefined> =>
    lookup(host, { all: true, family: 4 }).then(
      (addresses) => addresses.find(({ address }) => isOwn(address))?.address,
      () => undefined
    )

  /**
   * Whether machines can connect to it from their own addresses. They can't where a packet filter forwards its port
   * (into a container). A positive result is final: otherwise a machine could cause a failure and hide that it is a
   * machine.
   */
  const acceptsMachines = async (own: string): Promise<boolean> => {
    const accepted = await lastProbe?.accepted
    if (accepted === true) return true
    if (accepted === undefined || lastProbe === undefined || Date.now() - lastProbe.at > reprobeMillis) {
      lastProbe = { at: Date.now(), accepted: acceptsMachineAddresses({ host: own, port }) }
    }
    return await lastProbe.accepted ?? true
  }

  /** The status of a request sent from a source address like a machine's. */
  const probeStatus = (own: string) =>
    new Promise<number | undefined>((resolve) => {
      const outgoing = request({
        host: own,
        port,
        localAddress: platformAddress,
        path: `${pathname.replace(/\/$/, "")}/v1/health`,
        headers: { host: authority },
        // The certificate does not matter: nothing secret is sent, and the status that counts is our own answer's.
        rejectUnauthorized: false,
        agent: false,
        timeout: timeoutMillis,
        ...(isIP(host) === 0 ? { servername: host } : {})
      }, (response) => resolve(response.resume().statusCode))
      outgoing.on("timeout", () => outgoing.destroy()).on("error", () => resolve(undefined)).end()
    })

  /** What machines can reach, tested by requesting, from a machine's address, what machines may not have. */
  const reach = async (): Promise<AuthReach> => {
    const own = await ownAddress()
    if (own === undefined) return { all: "its name does not lead to this host" }
    if (!await acceptsMachines(own)) return { all: `its proxy takes no connections from ${platformAddress}` }
    const status = await probeStatus(own)
    if (status === 403) return "own"
    return status === undefined
      ? { all: "its proxy did not answer" }
      : { all: "its proxy does not tell where requests come from: X-Forwarded-For, TRUST_PROXY" }
  }

  return { host, port, ownAddress, acceptsMachines, reach }
}

export type AuthProxy = ReturnType<typeof authProxy>
