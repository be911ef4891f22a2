import { EventBorder } from "./event-border.ts"

/** Milliseconds after the head of an event stream, and between comments. Proxies cut what is silent for a minute. */
export const firstAfter = 500
export const every = 20_000

/** Keeps an event stream from being silent: a comment soon after its head, and then again and again, between events. */
export class Pulse {
  readonly #border = new EventBorder()
  #dueAt: number

  /** `now` and others: `performance.now()`, at the head. */
  constructor(now: number) {
    this.#dueAt = now + firstAfter
  }

  /** Call it with all that is sent. Whether anything but comments was. */
  push(chunk: Buffer) {
    return this.#border.push(chunk)
  }

  get isBetweenEvents() {
    return this.#border.isHere
  }

  /** Call it several times a second: the comment to send now, if any. */
  beat(now: number) {
    if (now < this.#dueAt || !this.#border.isHere) return undefined
    this.#dueAt = now + every
    return this.#border.comment
  }
}
