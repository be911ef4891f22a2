import { isIPv6 } from "node:net"

/** The addresses in `X-Forwarded-For`, including the caller's own claims. */
const entriesOf = (forwardedFor: string) =>
  forwardedFor.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "")

/** Addresses from trusted sources: the peer's, which we see, and one from each proxy in front. */
export const trustedAddresses = (
  remote: string | undefined,
  forwardedFor: string | undefined,
  hops: number
): ReadonlyArray<string> => [
  ...(remote === undefined ? [] : [remote]),
  ...(hops === 0 || forwardedFor === undefined ? [] : entriesOf(forwardedFor).slice(-hops))
]

/** An IPv4 address that is written as one of IPv6 (RFC 4291 §2.5.5.2) is the same caller's. */
const unmapped = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "")

/**
 * The caller's address. `hops` proxies in front are trusted: each appended the address it saw to `X-Forwarded-For`,
 * so the caller's is the `hops`-th entry from the right; entries further left are the caller's own claim.
 */
export const clientAddress = (remote: string | undefined, forwardedFor: string | undefined, hops: number) => {
  const direct = unmapped(remote ?? "unknown")
  if (hops === 0 || forwardedFor === undefined) return direct
  const entries = entriesOf(forwardedFor)
  return unmapped(entries.at(-hops) ?? entries[0] ?? direct)
}

/** The unit of rate limits: an IPv4 address, or the /64 of an IPv6 one (one customer's network, RFC 6177 §2). */
export const addressBucket = (address: string) => {
  if (!isIPv6(address)) return address
  const [head = "", tail] = address.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const groups = tail === undefined
    ? left
    : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right]
  return `${groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, "").toLowerCase()).join(":")}::/64`
}
