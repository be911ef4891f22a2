import { platformAddress } from "#src/machines/machine-address.ts"
import { lookup } from "node:dns/promises"
import { request } from "node:https"
import { connect, isIP, isIPv4, type NetConnectOpts } from "node:net"
import { networkInterfaces } from "node:os"
import type { AuthReach } from "./guarantees.ts"

const patienceMillis = 1_000
/** How long a proxy that takes no connections of machines is not asked again. */
const againMillis = 60_000

const isOwn = (address: string) =>
  isIPv4(address) && (
    address.startsWith("127.") || Object.values(networkInterfaces()).flat().some((one) => one?.address === address)
  )

const connects = (way: NetConnectOpts) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(way)
    const settle = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(patienceMillis, () => settle(false))
    socket.once("connect", () => settle(true)).once("error", () => settle(false))
  })

/** Whether connections from machines' addresses get through; undefined when none does at all, from wherever. */
const getThrough = async (way: { readonly host: string; readonly port: number }) =>
  await connects({ ...way, localAddress: platformAddress }) ? true : await connects(way) ? false : undefined

/** The proxy in front of an `AUTH_URL` of https, and what we know of where it is. */
export const authProxy = (authUrl: string) => {
  const { host: authority, hostname, pathname, port: named } = new URL(authUrl)
  const host = hostname.replace(/^\[|\]$/g, "")
  const port = Number(named) || 443
  let asked: { readonly at: number; readonly answer: Promise<boolean | undefined> } | undefined

  /** Its address when it is one of this host's: only there may a connection come from where we say. */
  const ownAddress = (): Promise<string | undefined> =>
    lookup(host, { all: true, family: 4 }).then(
      (found) => found.find(({ address }) => isOwn(address))?.address,
      () => undefined
    )

  /**
   * Whether machines can be led to it from addresses of their own. Where a packet filter takes its port elsewhere (into a
   * container), they can't. Once they could, it stays so: no machine shall bring about that it is not known as one.
   */
  const takesMachines = async (own: string): Promise<boolean> => {
    const known = await asked?.answer
    if (known === true) return true
    if (known === undefined || asked === undefined || Date.now() - asked.at > againMillis) {
      asked = { at: Date.now(), answer: getThrough({ host: own, port }) }
    }
    return await asked.answer ?? true
  }

  /** The status of a request that comes from where machines' come from. */
  const tried = (own: string) =>
    new Promise<number | undefined>((resolve) => {
      const outgoing = request({
        host: own,
        port,
        localAddress: platformAddress,
        path: `${pathname.replace(/\/$/, "")}/v1/health`,
        headers: { host: authority },
        // Nothing secret is sent: what counts is what we ourselves answer.
        rejectUnauthorized: false,
        agent: false,
        timeout: patienceMillis,
        ...(isIP(host) === 0 ? { servername: host } : {})
      }, (answer) => resolve(answer.resume().statusCode))
      outgoing.on("timeout", () => outgoing.destroy()).on("error", () => resolve(undefined)).end()
    })

  /** What machines reach, found out by asking as one of them for what they may not have. */
  const reach = async (): Promise<AuthReach> => {
    const own = await ownAddress()
    if (own === undefined) return { all: "its name does not lead to this host" }
    if (!await takesMachines(own)) return { all: `its proxy takes no connections from ${platformAddress}` }
    const status = await tried(own)
    if (status === 403) return "own"
    return status === undefined
      ? { all: "its proxy did not answer" }
      : { all: "its proxy does not tell where requests come from: X-Forwarded-For, TRUST_PROXY" }
  }

  return { host, port, ownAddress, takesMachines, reach }
}

export type AuthProxy = ReturnType<typeof authProxy>
