import { CurrentSettings } from "#src/config/Settings.ts"
import { webPorts } from "#src/servers/egress-entry.ts"
import { isListed, isPublicAddress } from "#src/shared/private-addresses.ts"
import { Effect } from "effect"
import { LRUCache } from "lru-cache"
import { isIP } from "node:net"
import { OutsideNetwork } from "./outside.ts"
import { allows, type Policy, portsFor } from "./policy.ts"

/** Why a host can't be reached: it is not allowed; allowed, but private; it has no address; nobody could say. */
export type Refusal = "not allowed" | "private" | "unknown" | "failed"

export type Found = { readonly addresses: ReadonlyArray<string> } | { readonly refusal: Refusal }

/** A name's addresses are used again so long, each time checked anew. */
const keptMillis = 5_000
const lookupMillis = 4_000
const noSuchName = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

/**
 * Where a host is. Every address is checked after the name was looked up, and the connection goes to these addresses:
 * what the name means a moment later does not matter (DNS rebinding).
 */
export class Destinations extends Effect.Service<Destinations>()("egress/Destinations", {
  effect: Effect.gen(function*() {
    const { egressPrivateHosts } = yield* CurrentSettings
    const outside = yield* OutsideNetwork
    const cache = new LRUCache<string, Promise<ReadonlyArray<string>>>({ max: 2_000, ttl: keptMillis })

    const lookUp = (name: string, isPrivate: boolean) => {
      const key = `${isPrivate} ${name}`
      const kept = cache.get(key)
      if (kept !== undefined) return kept
      const late = new Promise<never>((_, reject) => setTimeout(reject, lookupMillis, new Error("too late")).unref())
      const found = Promise.race([isPrivate ? outside.privateAddresses(name) : outside.addresses(name), late])
      cache.set(key, found)
      found.catch((error: NodeJS.ErrnoException) => noSuchName.has(error.code ?? "") || cache.delete(key))
      return found
    }

    /** What listens on the host beside its public door is behind its firewall to everybody else. */
    const isOutside = (address: string, port: number) =>
      isPublicAddress(address) && (webPorts.includes(port) || !outside.own().includes(address))

    const find = async (policy: Policy, host: string, port: number): Promise<Found> => {
      // No setting allows such an address, so that nobody is to be told of a command for it.
      if (isIP(host) > 0 && !isPublicAddress(host)) return { refusal: "private" }
      if (!allows(policy, host, port)) return { refusal: "not allowed" }
      // Only by name in an allow-list: "internet" is nothing private.
      const isPrivate = !policy.internet && isListed(host, port, egressPrivateHosts)
      try {
        const addresses = isIP(host) > 0 ? [host] : await lookUp(host, isPrivate)
        if (addresses.length === 0) return { refusal: "unknown" }
        return isPrivate || addresses.every((address) => isOutside(address, port))
          ? { addresses }
          : { refusal: "private" }
      } catch (error) {
        return { refusal: noSuchName.has((error as NodeJS.ErrnoException).code ?? "") ? "unknown" : "failed" }
      }
    }

    return {
      find,
      /** The ports at which a host can be reached; the same refusals. */
      ports: async (policy: Policy, host: string): Promise<ReadonlyArray<number> | Refusal> => {
        const ports = portsFor(policy, host)
        const found = await Promise.all(ports.map(async (port) => [port, await find(policy, host, port)] as const))
        const open = found.flatMap(([port, result]) => "addresses" in result ? [port] : [])
        const [refused] = found.flatMap(([, result]) => "refusal" in result ? [result.refusal] : [])
        return open.length > 0 ? open : refused ?? "not allowed"
      }
    } as const
  })
}) {}
