import { type IncomingMessage, ServerResponse } from "node:http"
import { type Socket } from "node:net"

/** Limits for the rest of a body that was answered before it was read: size, total time and silence. */
export const bounds = { bytes: 64 * 1024 * 1024, millis: 60_000, silentMillis: 10_000 } as const

/** Requests whose bodies `linger` has handled. */
const waitedFor = new WeakSet<IncomingMessage>()

/** Whether a part of a request's body is still to come (RFC 9112 §6.3: the headers announce a body). */
const isComing = (req: IncomingMessage) =>
  !req.complete && !waitedFor.has(req) &&
  (req.headers["transfer-encoding"] !== undefined || !/^0*$/.test(req.headers["content-length"] ?? ""))

/**
 * Calls back when the body of an answered request has arrived, or exceeds a limit; the body is discarded. Closing the
 * connection of a client that still sends would make it see a reset instead of the response, and many clients read
 * nothing before they have sent everything.
 */
export const linger = (
  req: IncomingMessage,
  done: () => void,
  limits: { [K in keyof typeof bounds]: number } = bounds
) => {
  if (!isComing(req)) return done()
  const { socket } = req
  let remaining = limits.bytes
  const finish = () => {
    clearTimeout(silenceTimer)
    clearTimeout(totalTimer)
    req.off("data", onData).off("end", finish).off("close", finish)
    waitedFor.add(req)
    done()
  }
  const cut = () => {
    finish()
    socket.destroySoon()
  }
  const onData = ({ length }: Buffer) => {
    remaining -= length
    if (remaining < 0) cut()
    else silenceTimer.refresh()
  }
  const silenceTimer = setTimeout(cut, limits.silentMillis)
  const totalTimer = setTimeout(cut, limits.millis)
  req.on("data", onData).on("end", finish).on("close", finish).on("error", () => undefined).resume()
}

/**
 * A response that may come before its request's body: it is sent at once, but its end, after which Node would close the
 * connection or read the next request, waits until the body has arrived.
 */
export class LingeringResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #keepsAlive: boolean | undefined
  #continuesLater = false
  // Node's own, which frameworks use too; its types lack them.
  declare readonly _hasBody: boolean
  declare readonly _send: (text: string, encoding: BufferEncoding) => boolean

  /**
   * The client waits for `100 Continue` and may omit its body after any other response (RFC 9110 §10.1.1). What
   * follows could then be that body or the next request, so the connection is not kept alive.
   */
  awaitContinue() {
    this.#keepsAlive = this.shouldKeepAlive
    this.shouldKeepAlive = false
  }

  override writeContinue(callback?: () => void) {
    this.shouldKeepAlive = this.#keepsAlive ?? this.shouldKeepAlive
    // Behind another response Node would write it between this one's head and body.
    if (this.socket === null) this.#continuesLater = true
    else super.writeContinue(callback)
  }

  override assignSocket(socket: Socket) {
    super.assignSocket(socket)
    if (this.#continuesLater && !this.headersSent) super.writeContinue()
  }

  /**
   * Ends it with a last part, a character for each byte, that is written as one string with the headers, if they wait
   * still. `end` would add an empty part, and two take a costlier way through Node (`writev`).
   */
  endAtOnce(text: string) {
    if (!this.headersSent || this.chunkedEncoding || !this._hasBody || isComing(this.req)) {
      return this.end(text, "latin1")
    }
    this._send(text, "latin1")
    return super.end()
  }

  override end(...args: [chunk?: unknown, encoding?: BufferEncoding | (() => void), callback?: () => void]): this {
    if (!isComing(this.req)) return super.end(...args as Parameters<ServerResponse["end"]>)
    const callback = args.find((arg): arg is () => void => typeof arg === "function")
    const [chunk, encoding] = args
    const bytes = chunk instanceof Uint8Array
      ? chunk
      : Buffer.from(typeof chunk === "string" ? chunk : "", typeof encoding === "string" ? encoding : "utf8")
    if (!this.headersSent) this.setHeader("Content-Length", bytes.length)
    this.flushHeaders()
    if (bytes.length > 0) this.write(bytes)
    linger(this.req, () => super.end(callback))
    return this
  }
}
