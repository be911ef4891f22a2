import { Context } from "effect"
import { promises as dns } from "node:dns"
import { connect, type LookupFunction, type Socket } from "node:net"
import { networkInterfaces } from "node:os"

export interface Outside {
  /** All addresses of a public name. Rejects with Node's codes: ENOTFOUND, ENODATA, ETIMEOUT, … */
  readonly addresses: (name: string) => Promise<ReadonlyArray<string>>
  /** The same of a name that the operator lists as private, which may stand in the host's own files. */
  readonly privateAddresses: (name: string) => Promise<ReadonlyArray<string>>
  /** Connects to one of these addresses and to no other. */
  readonly connect: (addresses: ReadonlyArray<string>, port: number) => Socket
  /** Addresses of the host itself. */
  readonly own: () => ReadonlyArray<string>
}

// Not getaddrinfo: it holds one of a few threads of the process for as long as a hostile name's server likes.
const resolver = new dns.Resolver({ timeout: 1_500, tries: 2 })

const addresses: Outside["addresses"] = async (name) => {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = [v4, v6].flatMap((result) => result.status === "fulfilled" ? result.value : [])
  if (found.length === 0 && v4.status === "rejected") throw v4.reason
  return found
}

const familyOf = (address: string) => address.includes(":") ? 6 : 4

const pinned = (all: ReadonlyArray<string>): LookupFunction => (_name, options, callback) => {
  const [first = ""] = all
  if (options.all === true) callback(null, all.map((address) => ({ address, family: familyOf(address) })))
  else callback(null, first, familyOf(first))
}

/** The network around the platform; a test has its own. */
export class OutsideNetwork extends Context.Reference<OutsideNetwork>()("egress/OutsideNetwork", {
  defaultValue: (): Outside => ({
    addresses,
    privateAddresses: async (name) => (await dns.lookup(name, { all: true })).map(({ address }) => address),
    connect: (all, port) =>
      connect({ host: "outside.invalid", port, lookup: pinned(all), autoSelectFamily: true, allowHalfOpen: true }),
    own: () => Object.values(networkInterfaces()).flatMap((each) => each ?? []).map(({ address }) => address)
  })
}) {}
