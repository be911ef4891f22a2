import { IncomingMessage } from "node:http"

/** What takes a body: its parts, and null at its end. */
export type Taker = (part: Buffer | null) => void

/** A request whose body, if it is small and nobody has read of it, can be read without the turns that a stream takes. */
export class TakeableRequest extends IncomingMessage {
  #taker: Taker | undefined
  #hasBegun = false

  /** Everything from now on goes to the taker; false: a part is in the stream already. There is no back-pressure. */
  takeBody(taker: Taker): boolean {
    if (this.#hasBegun || this.complete) return false
    this.#taker = taker
    return true
  }

  /** The rest is the stream's. */
  leaveBody() {
    this.#taker = undefined
  }

  /** Node's parser calls it with each part. */
  override push(part: Buffer | null, encoding?: BufferEncoding): boolean {
    const taker = this.#taker
    if (taker === undefined) {
      this.#hasBegun = true
      return super.push(part, encoding)
    }
    taker(part)
    // An empty stream ends, too: Node waits for that.
    return part === null ? super.push(null) : true
  }
}
