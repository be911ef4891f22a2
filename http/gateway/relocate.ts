import { rpcIdIn } from "#http/answers/json-rpc.ts"
import { type ClientResponse } from "#http/connection/client-response.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { isOff, type Route } from "#src/routing/Route.ts"
import { type RequestMetering } from "#src/usage/RequestMetering.ts"
import { type IncomingMessage } from "node:http"
import { type Affinity, sessionGone } from "./affinity.ts"
import { type Answer } from "./answer.ts"
import { notRunning } from "./refusals.ts"
import { type waker } from "./wake.ts"

interface Sent {
  readonly route: Route
  /** Where it was sent, and could not be. */
  readonly machine: MachineAddress
  readonly req: IncomingMessage
  readonly res: ClientResponse
  readonly path: string
}

interface RelocatorOptions {
  readonly affinity: Affinity
  readonly metering: Pick<RequestMetering, "takeBack">
  readonly wake: ReturnType<typeof waker>
}

const isSame = (one: MachineAddress, other: MachineAddress) => JSON.stringify(one) === JSON.stringify(other)

/** Of one request whose machine can't be reached. */
export const relocator =
  ({ affinity, metering, wake }: RelocatorOptions) => ({ machine, path, req, res, route }: Sent) => {
    let instead: Answer | undefined

    const find = async (read: ReadonlyArray<Buffer>) => {
      const gone = () => sessionGone(rpcIdIn(Buffer.concat(read).toString()))
      const now = await affinity.findAgain(route, req, path)
      if (now === undefined) return undefined
      if (now === "gone") return gone()
      if (isOff(now)) return notRunning(now)
      const isAnother = now.machine !== undefined &&
        (!isSame(now.machine, machine) || now.mark?.run !== route.mark?.run)
      if (isAnother && !now.asleep) return now
      if (now.status !== "running" && !now.asleep) return undefined
      const back = await wake(now, req, res)
      return "answer" in back ? back.answer : await affinity.find(back.route, req, path) ?? gone()
    }

    return {
      /**
       * `read`: the request's body, as far as it was read and kept. Where it may be sent now: the server was moved, or its machine ended by itself, and then the request waits until
       * it is started again.
       */
      relocate: async (read: ReadonlyArray<Buffer>) => {
        const found = await find(read)
        if (found !== undefined && "machine" in found) return found.machine
        instead = found
        if (instead !== undefined) metering.takeBack(route.accountId)
        return undefined
      },
      /** What its client is told in place of the server's answer, if that is known; then it does not count. */
      instead: () => instead
    }
  }
