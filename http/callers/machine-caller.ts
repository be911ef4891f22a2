import { asMachineAddress } from "#src/machines/machine-address.ts"
import { trustedAddresses } from "#src/shared/client-address.ts"
import { type IncomingMessage } from "node:http"

const own = new WeakMap<IncomingMessage, string>()

/** Notes a request as a machine's, by the server that it came to. */
export const cameFrom = (req: IncomingMessage, machine: string) => void own.set(req, `machine ${machine}`)

/**
 * The machine that sent a request, as rates are counted by: known by the server that it came to or, behind a proxy on this
 * host, by the address that the proxy saw. Undefined for everybody else.
 */
export const machineBehind = (req: IncomingMessage, trustProxy: number): string | undefined => {
  const known = own.get(req)
  if (known !== undefined) return known
  const sent = req.headers["x-forwarded-for"]
  for (const address of trustedAddresses(req.socket.remoteAddress, sent?.toString(), trustProxy)) {
    const machine = asMachineAddress(address)
    if (machine !== undefined) return machine
  }
  return undefined
}
