import { type IncomingMessage, ServerResponse } from "node:http"

/** How much more a client may send of a body that was answered unread, for how long, and how long it may be silent. */
export const bounds = { bytes: 64 * 1024 * 1024, millis: 60_000, silentMillis: 10_000 } as const

/** Requests whose bodies were waited for already. */
const waitedFor = new WeakSet<IncomingMessage>()

/** Whether the rest of a request's body is still to come (RFC 9112 §6.3: it has one when it says so). */
const isComing = (req: IncomingMessage) =>
  !req.complete && !waitedFor.has(req) &&
  (req.headers["transfer-encoding"] !== undefined || !/^0*$/.test(req.headers["content-length"] ?? ""))

/**
 * Calls back when the body of an answered request has come, or more of it than can be waited for. Meanwhile what comes
 * is thrown away: hanging up on a client that still sends would make it read a reset instead of its answer, and many
 * clients read nothing before they have sent everything.
 */
export const linger = (
  req: IncomingMessage,
  done: () => void,
  most: { [K in keyof typeof bounds]: number } = bounds
) => {
  if (!isComing(req)) return done()
  const { socket } = req
  let left = most.bytes
  const finish = () => {
    clearTimeout(silent)
    clearTimeout(late)
    req.off("data", onData).off("end", finish).off("close", finish)
    waitedFor.add(req)
    done()
  }
  const cut = () => {
    finish()
    socket.destroySoon()
  }
  const onData = ({ length }: Buffer) => {
    left -= length
    if (left < 0) cut()
    else silent.refresh()
  }
  const silent = setTimeout(cut, most.silentMillis)
  const late = setTimeout(cut, most.millis)
  req.on("data", onData).on("end", finish).on("close", finish).on("error", () => undefined).resume()
}

/**
 * An answer that may come before its request's body: it goes out at once, and its end, at which Node would hang up or
 * read the next request, waits until the body has come too.
 */
export class PatientResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #keepsAlive: boolean | undefined

  /**
   * The client waits for `100 Continue` and may leave its body out after any other answer (RFC 9110 §10.1.1). What
   * follows such an answer could be that body or the next request: nothing may follow.
   */
  awaitContinue() {
    this.#keepsAlive = this.shouldKeepAlive
    this.shouldKeepAlive = false
  }

  override writeContinue(callback?: () => void) {
    this.shouldKeepAlive = this.#keepsAlive ?? this.shouldKeepAlive
    super.writeContinue(callback)
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
