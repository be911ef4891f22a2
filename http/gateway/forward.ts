import { markEventStream } from "#http/connection/connections.ts"
import { linger } from "#http/connection/linger.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Dispatcher } from "undici"
import { corsFor } from "./cors.ts"
import { type Exchange } from "./exchange.ts"
import { hasBody } from "./framing.ts"
import { isEventStream, isOpenEnded, readHead, reasonBytes, type ResponseHead, responseHeaders } from "./headers.ts"
import { type Cut } from "./in-flight.ts"
import { interruptedCallEvents } from "./interrupted-calls.ts"
import { Upload } from "./upload.ts"
import { type Connection, connectionTo, mayRetry, toError, wasNotReceived } from "./upstream.ts"

const ignore = () => {}

/** A last chunk up to this size is written together with the headers, as one string of Latin-1. */
const smallChunk = 16 * 1024

/** An exchange under way; undici calls the methods that are named `on…`. */
class Forwarding implements Dispatcher.DispatchHandler, Cut {
  readonly #exchange: Exchange
  readonly #upload: Upload
  #connection: Connection | undefined
  /** Whether the machine may have got a part of the request. */
  #wasSent = false
  #wasMoved = false
  #writtenAtOnce = true
  #head: ResponseHead | undefined
  #isComplete = false
  /** Nothing that the machine says matters any more. */
  #isOver = false
  /** The request that an event stream answers; parsed only when the stream breaks. */
  #requestBody: ReadonlyArray<Buffer> = []
  #rewriter: ReturnType<NonNullable<Exchange["rewriter"]>> | undefined
  /** The last chunk, which may be the last one. */
  #held: Buffer | undefined
  #hasWritten = false
  #willFlush = false
  #resume = ignore
  /** Bytes of both bodies; of a small exchange all at once. */
  #unmetered = 0

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    const { body, req, res } = exchange
    res.on("error", ignore)
    res.on("close", () => {
      if (!this.#isComplete) this.#abandon()
      this.#meter()
      if (this.#head === undefined) exchange.watch.asked(this.#upload.chunks, undefined)
      exchange.onEnd()
    })
    this.#upload = new Upload({
      req,
      read: body,
      onBytes: (count) => {
        this.#unmetered += count
        if (this.#connection !== undefined) this.#meter()
      },
      onReady: () => this.#send(exchange.way.machine, false)
    })
    this.#upload.start()
    if (exchange.awaitsContinue && body === undefined && hasBody(req)) res.writeContinue()
  }

  /** An event stream is ended cleanly, anything else abruptly. */
  cut() {
    const { res } = this.#exchange
    const head = this.#head
    if (this.#isOver) return
    if (head === undefined) return this.#giveUp(new Error("the platform is stopping"), true)
    this.#abandon()
    this.#exchange.watch.broke()
    if (isEventStream(head)) res.end(isOpenEnded(head) ? interruptedCallEvents(this.#requestBody) : undefined)
    else res.destroy()
  }

  #meter() {
    if (this.#unmetered > 0) this.#exchange.onBytes(this.#unmetered)
    this.#unmetered = 0
  }

  #abandon() {
    this.#isOver = true
    this.#upload.stop()
    this.#connection?.destroy()
  }

  #giveUp(error: Error, sent: boolean) {
    this.#abandon()
    this.#exchange.onFailure(error, sent)
  }

  #send(machine: MachineAddress, fresh: boolean) {
    const { req, way: { addressing, headers, path } } = this.#exchange
    const body = this.#upload.body()
    this.#wasSent = false
    this.#writtenAtOnce = body === null || Buffer.isBuffer(body)
    const { length } = this.#upload
    const request = {
      method: req.method as Dispatcher.HttpMethod,
      // undici has no asterisk-form; a server reads this one as the same (RFC 9112 §3.2.4).
      path: path === "*" ? `http://${addressing.machineHost}` : path,
      headers: this.#writtenAtOnce || length === undefined
        ? [...headers]
        : [...headers, "Content-Length", String(length)],
      body,
      // Without one, undici looks in the host for that of a certificate.
      servername: addressing.machineHost
    }
    this.#connection = connectionTo(machine, fresh)
    this.#connection.dispatch(request, this)
  }

  onConnect() {
    this.#wasSent = true
  }

  onHeaders(status: number, headers: Array<Buffer>, resume: () => void, reason: string) {
    // Hints; the answer comes after them.
    if (this.#isOver || status < 200) return true
    const { req, res, watch, way: { addressing } } = this.#exchange
    const head = this.#head = readHead(headers)
    this.#resume = resume
    const streams = isEventStream(head)
    if (isOpenEnded(head)) this.#requestBody = this.#upload.chunks
    watch.asked(this.#upload.chunks, head)
    this.#upload.answered()
    if (streams && !head.isEncoded) this.#rewriter = this.#exchange.rewriter?.()
    const out = responseHeaders(head, addressing, {
      withoutLength: this.#rewriter !== undefined || status === 204,
      nameSession: (id) => this.#exchange.nameSession(id)
    })
    out.push(...corsFor(req, head.hasCors))
    if (this.#exchange.isClosing()) out.push("Connection", "close")
    try {
      // Only the machine's own Date, if any.
      res.sendDate = false
      res.writeHead(status, reasonBytes(reason), out)
    } catch (error) {
      this.#giveUp(toError(error), true)
      return true
    }
    if (streams) markEventStream(res)
    this.#flushSoon()
    return true
  }

  onData(chunk: Buffer) {
    if (this.#isOver) return true
    const { res, watch } = this.#exchange
    this.#unmetered += chunk.length
    watch.heard(chunk)
    this.#writeHeld()
    this.#held = this.#rewriter === undefined ? chunk : this.#rewriter.push(chunk)
    this.#flushSoon()
    if (!res.writableNeedDrain) return true
    res.once("drain", this.#resume)
    return false
  }

  onComplete() {
    if (this.#isOver) return
    this.#isComplete = true
    this.#connection?.release()
    this.#connection = undefined
    const { req, res } = this.#exchange
    if (this.#rewriter !== undefined) {
      this.#writeHeld()
      this.#held = this.#rewriter.end()
    }
    if (req.complete) return this.#end()
    // The rest of the body goes unread.
    this.#upload.stop()
    this.#writeHeld()
    linger(req, () => res.end())
  }

  onError(error: Error) {
    this.#connection?.destroy()
    // The response may be complete although the machine did not read the whole body.
    if (this.#isOver || this.#isComplete) return
    const { req: { method }, way: { machine } } = this.#exchange
    if (this.#head !== undefined) return this.#breakOff(this.#head)
    const { isReplayable } = this.#upload
    const wasUsed = this.#connection?.wasUsed === true
    const attempt = { error, machine, method, wasUsed, writtenAtOnce: this.#writtenAtOnce }
    if (this.#wasSent && isReplayable && mayRetry(attempt)) return this.#send(machine, true)
    const wasReceived = this.#wasSent && !wasNotReceived(attempt)
    if (wasReceived || this.#wasMoved || !isReplayable) return this.#giveUp(error, wasReceived)
    this.#wasMoved = true
    this.#exchange.relocate().then((now) => {
      if (this.#isOver) return
      if (now === undefined) this.#giveUp(error, false)
      else this.#send(now, true)
    }).catch((failure: unknown) => this.#giveUp(toError(failure), false))
  }

  /** The response broke off. An event stream that can still be ended cleanly reports its calls as interrupted. */
  #breakOff(head: ResponseHead) {
    const { req, res, watch } = this.#exchange
    this.#abandon()
    watch.broke()
    if (!isOpenEnded(head)) return void res.destroy()
    const last = interruptedCallEvents(this.#requestBody)
    if (last === undefined && req.method !== "GET") return void res.destroy()
    this.#writeHeld()
    res.end(last)
  }

  #writeHeld() {
    const held = this.#held
    this.#held = undefined
    if (held === undefined || held.length === 0) return
    this.#hasWritten = true
    this.#exchange.res.write(held)
  }

  /** With the headers, if they wait still: one write in place of two or three. */
  #end() {
    const { res } = this.#exchange
    const held = this.#held
    this.#held = undefined
    if (held === undefined || held.length === 0) res.end()
    else if (held.length > smallChunk) res.end(held)
    else res.end(held.toString("latin1"), "latin1")
  }

  #flushSoon() {
    if (this.#willFlush) return
    this.#willFlush = true
    process.nextTick(Forwarding.#flush, this)
  }

  /** What came in one packet is there: headers, and a first chunk, share one of ours. */
  static #flush(this: void, one: Forwarding) {
    one.#willFlush = false
    one.#meter()
    if (one.#isComplete || one.#isOver) return
    one.#writeHeld()
    if (!one.#hasWritten) setImmediate(Forwarding.#flushHeaders, one)
  }

  static #flushHeaders(this: void, one: Forwarding) {
    if (!one.#hasWritten && !one.#exchange.res.writableEnded) one.#exchange.res.flushHeaders()
  }
}

/**
 * Streams a request to its machine and the response back, with back-pressure both ways. When one side closes, the other
 * is closed. What is returned ends it for a shutdown: an event stream cleanly, anything else abruptly.
 */
export const forward = (exchange: Exchange): Cut => new Forwarding(exchange)
