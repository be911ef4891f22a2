import { BlockList, isIPv4, isIPv6 } from "node:net"

/**
 * RFC 6890 and the IANA special-purpose registry (2024), IPv4. 168.63.129.16 is Azure's metadata address: it lies in
 * public space, but answers only inside a cloud machine.
 */
const specialV4 = new BlockList()
for (
  const [network, prefix] of [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.31.196.0", 24],
    ["192.52.193.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["192.175.48.0", 24],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
    ["168.63.129.16", 32]
  ] as const
) specialV4.addSubnet(network, prefix, "ipv4")

/** RFC 4291 §2.4: global unicast is 2000::/3. Mapped, NAT64, unique-local, link-local and multicast are outside it. */
const globalV6 = new BlockList()
globalV6.addSubnet("2000::", 3, "ipv6")

/** Special parts of 2000::/3: protocol assignments with Teredo and ORCHID, documentation, 6to4. */
const specialV6 = new BlockList()
specialV6.addSubnet("2001::", 23, "ipv6")
specialV6.addSubnet("2001:db8::", 32, "ipv6")
specialV6.addSubnet("2002::", 16, "ipv6")
specialV6.addSubnet("3fff::", 20, "ipv6")

/** Whether a text is an IP address of the public internet. */
export const isPublicAddress = (address: string): boolean => {
  if (isIPv4(address)) return !specialV4.check(address, "ipv4")
  if (!isIPv6(address) || address.includes("%")) return false
  return globalV6.check(address, "ipv6") && !specialV6.check(address, "ipv6")
}

const defaultPort = (url: URL) => url.protocol === "https:" ? "443" : "80"

/** Whether an operator's list has the host as `host` or `host:port` (IPv6 in brackets). */
export const isListed = (host: string, port: number | string, list: ReadonlyArray<string>): boolean =>
  list.some((entry) => [host, `${host}:${port}`].includes(entry.toLowerCase()))

export const isException = (url: URL, allowed: ReadonlyArray<string>): boolean =>
  isListed(url.hostname, url.port === "" ? defaultPort(url) : url.port, allowed)
