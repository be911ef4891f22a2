import { type ClientResponse } from "#http/connection/client-response.ts"

const ignore = () => {}

/** A last chunk up to this size is written together with the headers, as one string of Latin-1. */
const smallChunk = 16 * 1024

/** Answers that are complete. Written one after the other, each costs less than when their clients wake in between. */
let due: Array<Download> = []
const endDue = () => {
  const now = due
  due = []
  for (const download of now) download.endNow()
}

interface Owner {
  /** What has come by now is about to be written. */
  readonly onFlush: () => void
}

/** An answer's body on its way to the client, in as few writes as its pieces allow. */
export class Download {
  /** It is complete, and is written in this turn. */
  isDue = false
  readonly #res: ClientResponse
  readonly #owner: Owner
  /** The last chunk, which may be the last one. */
  #held: Buffer | undefined
  #hasWritten = false
  #willFlush = false
  #isOver = false
  #waits = false
  #resume = ignore

  constructor(res: ClientResponse, owner: Owner) {
    this.#res = res
    this.#owner = owner
  }

  /** `resume`: called after `push` said false, when there is room again. */
  begin(resume: () => void) {
    this.#resume = resume
  }

  push(chunk: Buffer): boolean {
    this.writeHeld()
    this.#held = chunk
    if (!this.#res.writableNeedDrain) return true
    if (!this.#waits) this.#res.once("drain", this.#drained)
    this.#waits = true
    return false
  }

  writeHeld() {
    const held = this.#held
    this.#held = undefined
    if (held === undefined || held.length === 0) return
    this.#hasWritten = true
    this.#res.write(held)
  }

  /** Bytes of ours, behind all that has come. A client that does not read gets none. */
  add(text: string) {
    this.writeHeld()
    if (!this.#res.writableNeedDrain) this.#res.write(text)
  }

  /** At the end of this turn, with all others that are. */
  endSoon() {
    this.stop()
    this.isDue = true
    if (due.push(this) === 1) setImmediate(endDue)
  }

  /** With the headers, if they wait still: one write in place of two or three. */
  endNow() {
    const held = this.#held
    this.#held = undefined
    this.stop()
    this.isDue = false
    if (held === undefined || held.length === 0) this.#res.end()
    else if (held.length > smallChunk || this.#res.endAtOnce === undefined) this.#res.end(held)
    else this.#res.endAtOnce(held.toString("latin1"))
  }

  /** Nothing is flushed any more. */
  stop() {
    this.#isOver = true
  }

  /** What comes in one packet is there by then: headers, and a first chunk, share one of ours. */
  flushSoon() {
    if (this.#willFlush) return
    this.#willFlush = true
    process.nextTick(Download.#flushed, this)
  }

  flush() {
    this.#willFlush = false
    this.#owner.onFlush()
    if (this.#isOver) return
    this.writeHeld()
    if (!this.#hasWritten) setImmediate(Download.#flushHeaders, this)
  }

  static #flushed(this: void, one: Download) {
    one.flush()
  }

  static #flushHeaders(this: void, one: Download) {
    if (!one.#hasWritten && !one.#res.writableEnded) one.#res.flushHeaders()
  }

  readonly #drained = () => {
    this.#waits = false
    this.#resume()
  }
}
