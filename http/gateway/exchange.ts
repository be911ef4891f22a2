import { type ClientResponse } from "#http/connection/client-response.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type IncomingMessage } from "node:http"
import { type Answer } from "./answer.ts"
import { type Watch } from "./watch.ts"
import { type Way } from "./way.ts"

/** One request to a machine. */
export interface Exchange {
  readonly way: Way
  readonly req: IncomingMessage
  readonly res: ClientResponse
  /** The request's body, if it was already read. */
  readonly body: Buffer | undefined
  /** The caller is not the server's owner. */
  readonly isGuest: boolean
  /** The client waits for `100 Continue` before it sends the body. */
  readonly awaitsContinue: boolean
  /** Rewrites an event stream; undefined passes every byte unchanged. */
  readonly rewriter: (() => { push: (chunk: Buffer) => Buffer; end: () => Buffer }) | undefined
  readonly watch: Pick<Watch, "asked" | "heard" | "broke">
  /** The gateway stops: connections are not to be used again. */
  readonly isClosing: () => boolean
  /** No other request is under way: nothing is to be gained by waiting for it. */
  readonly isAlone: () => boolean
  /** Makes the machine's `Mcp-Session-Id` the client's, which names the machine. */
  readonly nameSession: (id: string) => string
  /** The answer is a stream on which the client listens: alone what is said on it is use of the server. */
  readonly listens: () => void
  readonly said: () => void
  /** The machine has ended such a stream. Calls back when the client's is to end, too: at once, or when the server wakes. */
  readonly keep: (end: () => void) => void
  readonly onBytes: (count: number) => void
  /** Called when the machine can't be reached, with what was read of the body: its new address, if it moved. */
  readonly relocate: (read: ReadonlyArray<Buffer>) => Promise<MachineAddress | undefined>
  /** No response will come; `sent`: the machine may have executed the request. */
  readonly onFailure: (error: Error, sent: boolean) => void
  /** The body has stopped to come, or is refused, and nothing was answered. */
  readonly onRefused: (refusal: Answer) => void
  readonly onEnd: () => void
}
