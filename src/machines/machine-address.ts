import { createHash } from "node:crypto"

/** Loopback block (RFC 1122 §3.2.1.3), one address for each machine: nothing outside this host can use one. */
const block = "127.66"
const pattern = /^(?:::ffff:)?(127\.66\.\d{1,3}\.\d{1,3})$/i

/** The platform's source address when it tests what machines can reach. */
export const platformAddress = `${block}.0.1`

/** The address without the `::ffff:` prefix of IPv6 sockets; undefined when it is not a machine's. */
export const asMachineAddress = (address: string): string | undefined => pattern.exec(address)?.[1]

/** A machine's address: derived from its name, or the next free one when another machine has that. */
export const machineAddress = (machine: string, isTaken: (address: string) => boolean): string => {
  const start = createHash("sha256").update(machine).digest().readUInt16BE()
  for (let step = 0; step < 0x10000; step++) {
    const number = (start + step) & 0xffff
    const address = `${block}.${number >> 8}.${number & 0xff}`
    // By convention the first and the last address of a network are reserved.
    const reserved = number === 0 || number === 0xffff || address === platformAddress
    if (!reserved && !isTaken(address)) return address
  }
  throw new Error("Every address for machines is taken")
}
