import { createHash } from "node:crypto"

/** Loopback addresses (RFC 1122 §3.2.1.3) that are a machine's each: nothing outside this host can have one. */
const block = "127.66"
const pattern = /^(?:::ffff:)?(127\.66\.\d{1,3}\.\d{1,3})$/i

/** Where the platform itself comes from when it tries what a machine would find. */
export const platformAddress = `${block}.0.1`

/** The address when it is a machine's, without the form that IPv6 sockets give it. */
export const asMachineAddress = (address: string): string | undefined => pattern.exec(address)?.[1]

/** An address for a machine: the same again for the same name, unless another machine has it. */
export const machineAddress = (machine: string, isTaken: (address: string) => boolean): string => {
  const start = createHash("sha256").update(machine).digest().readUInt16BE()
  for (let step = 0; step < 0x10000; step++) {
    const number = (start + step) & 0xffff
    const address = `${block}.${number >> 8}.${number & 0xff}`
    // The first and the last are a network's own by custom.
    const reserved = number === 0 || number === 0xffff || address === platformAddress
    if (!reserved && !isTaken(address)) return address
  }
  throw new Error("Every address for machines is taken")
}
