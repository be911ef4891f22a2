import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Addressing } from "#src/routing/addressing.ts"
import { type IncomingMessage, type ServerResponse } from "node:http"
import { type Watch } from "./watch.ts"

/** One request to a machine. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly path: string
  /** Flat list of names and values, without framing. */
  readonly headers: Array<string>
  readonly addressing: Addressing
  readonly machine: MachineAddress
  /** The request's body, if it was already read. */
  readonly body: Buffer | undefined
  /** The client waits for `100 Continue` before it sends the body. */
  readonly awaitsContinue: boolean
  /** Rewrites an event stream; undefined passes every byte unchanged. */
  readonly rewriter: (() => { push: (chunk: Buffer) => Buffer; end: () => Buffer }) | undefined
  readonly watch: Pick<Watch, "asked" | "heard" | "broke">
  readonly closing: () => boolean
  readonly onBytes: (count: number) => void
  /** Called when the machine can't be reached: its new address, if it moved. */
  readonly relocate: () => Promise<MachineAddress | undefined>
  /** No response will come; `sent`: the machine may have executed the request. */
  readonly onFailure: (error: Error, sent: boolean) => void
  readonly onEnd: () => void
}
