import { asMachineAddress } from "#src/machines/machine-address.ts"
import { trustedAddresses } from "#src/shared/client-address.ts"
import { type IncomingMessage } from "node:http"

const machines = new WeakMap<IncomingMessage, string>()

/** Marks a request as a machine's, which has a listening server of its own. */
export const markMachine = (req: IncomingMessage, machine: string) => void machines.set(req, `machine ${machine}`)

/**
 * The machine that sent a request, as the key of rate limits: known from the server that received it or, behind a proxy
 * on this host, from the address that the proxy saw. Undefined for other senders.
 */
export const machineBehind = (req: IncomingMessage, trustProxy: number): string | undefined => {
  const marked = machines.get(req)
  if (marked !== undefined) return marked
  const sent = req.headers["x-forwarded-for"]
  for (const address of trustedAddresses(req.socket.remoteAddress, sent?.toString(), trustProxy)) {
    const machine = asMachineAddress(address)
    if (machine !== undefined) return machine
  }
  return undefined
}
