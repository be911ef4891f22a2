import { createHash } from "node:crypto"

interface AskerLimitOptions {
  /** Maximum of addresses that are remembered; the one that came first is forgotten. */
  readonly addresses: number
  /** Maximum of different searches of one address a day. */
  readonly searches: number
}

const digestOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 11)

/**
 * Counts each search once a day for an address, and only so many of them, so that one caller can't make a search look
 * wanted or crowd out those of others. Lives in memory until the day ends: addresses are never written.
 */
export const makeAskerLimit = ({ addresses, searches }: AskerLimitOptions) => {
  const asked = new Map<string, Set<string>>()
  let today = ""

  return (day: string, address: string, search: string): boolean => {
    if (day !== today) {
      asked.clear()
      today = day
    }
    let own = asked.get(address)
    if (own === undefined) {
      const [first] = asked.keys()
      if (first !== undefined && asked.size >= addresses) asked.delete(first)
      asked.set(address, own = new Set())
    }
    const digest = digestOf(search)
    if (own.has(digest) || own.size >= searches) return false
    own.add(digest)
    return true
  }
}
