import { markEventStream } from "#http/connection/connections.ts"
import { linger } from "#http/connection/linger.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Answer } from "./answer.ts"
import { type Connection } from "./connection.ts"
import { Download } from "./download.ts"
import { type EventStream, eventStreamOf } from "./event-stream.ts"
import { type Exchange } from "./exchange.ts"
import { hasBody } from "./framing.ts"
import { isEventStream, isOpenEnded, readHead, reasonBytes, type ResponseHead } from "./headers.ts"
import { type UnderWay } from "./in-flight.ts"
import { interruptedCallEvents } from "./interrupted-calls.ts"
import { machineAt } from "./machine.ts"
import { outwardHead } from "./outward-head.ts"
import { type AnswerHandler } from "./plain-connection.ts"
import { type PlainHead } from "./plain-head.ts"
import { plainRequest } from "./plain-request.ts"
import { bodyStopped } from "./refusals.ts"
import { undiciRequest } from "./undici-connection.ts"
import { Upload } from "./upload.ts"
import { mayRetry, toError, wasNotReceived } from "./upstream.ts"

/** An exchange under way; undici calls the methods that are named `on…`. */
class Forwarding implements AnswerHandler, UnderWay {
  readonly #exchange: Exchange
  readonly #upload: Upload
  readonly #download: Download
  #connection: Connection | undefined
  #sentTo: MachineAddress
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
  #events: EventStream | undefined
  /** Pieces are told with their ends. */
  #isPlain = false
  /** Bytes of both bodies; of a small exchange all at once. */
  #unmetered = 0

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    const { body, isGuest, req, res } = exchange
    this.#sentTo = exchange.way.machine
    res.on("error", () => undefined)
    res.on("close", () => {
      if (!this.#isComplete) this.#abandon()
      this.onFlush()
      if (this.#head === undefined) exchange.watch.asked(this.#upload.chunks, undefined)
      exchange.onEnd()
    })
    this.#download = new Download(res, this)
    this.#upload = new Upload(req, body, isGuest, this)
    this.#upload.start()
    if (exchange.awaitsContinue && body === undefined && hasBody(req)) res.writeContinue()
  }

  /** An event stream is ended cleanly, anything else abruptly. */
  cut() {
    const { res } = this.#exchange
    const head = this.#head
    if (this.#events?.isKept === true) return this.#events.end()
    if (this.#isOver || this.#download.isDue) return
    if (head === undefined) return this.#giveUp(new Error("the platform is stopping"), true)
    this.#abandon()
    this.#exchange.watch.broke()
    if (isEventStream(head)) res.end(isOpenEnded(head) ? interruptedCallEvents(this.#requestBody) : undefined)
    else res.destroy()
  }

  tick(now: number) {
    const comment = this.#events?.beat(now)
    if (comment !== undefined) this.#download.add(comment)
    if (this.#isOver || this.#isComplete || !this.#upload.isSilent(now)) return
    this.#abandon()
    if (this.#head === undefined) return this.#exchange.onRefused(bodyStopped)
    this.#exchange.watch.broke()
    this.#exchange.res.destroy()
  }

  onUploaded(count: number) {
    this.#unmetered += count
    if (this.#connection !== undefined) this.onFlush()
  }

  onReady(refusal: Answer | undefined) {
    if (refusal === undefined) return this.#send(this.#exchange.way.machine, false)
    this.#abandon()
    this.#exchange.onRefused(refusal)
  }

  /** Bytes are counted as they pass. */
  onFlush() {
    if (this.#unmetered > 0) this.#exchange.onBytes(this.#unmetered)
    this.#unmetered = 0
  }

  #abandon() {
    this.#isOver = true
    this.#upload.stop()
    this.#download.stop()
    this.#connection?.destroy()
  }

  #giveUp(error: Error, sent: boolean) {
    this.#abandon()
    this.#exchange.onFailure(error, sent)
  }

  #send(machine: MachineAddress, fresh: boolean) {
    const { req, way } = this.#exchange
    const body = this.#upload.body()
    this.#wasSent = false
    this.#sentTo = machine
    this.#writtenAtOnce = body === null || Buffer.isBuffer(body)
    const options = () => undiciRequest(req, way, body, this.#upload.length)
    if (way.plainHead !== undefined && Buffer.isBuffer(body)) {
      const connection = this.#connection = machineAt(machine).plain(fresh)
      connection.send({ text: plainRequest(way.plainHead, body), options }, this)
    } else {
      const connection = this.#connection = machineAt(machine).undici(fresh)
      connection.dispatch(options(), this)
    }
  }

  onConnect() {
    this.#wasSent = true
  }

  onUnsent() {
    if (!this.#isOver) this.#send(this.#sentTo, false)
  }

  onHeaders(status: number, headers: Array<Buffer>, resume: () => void, reason: string) {
    // Hints; the answer comes after them.
    if (this.#isOver || status < 200) return true
    this.#download.begin(resume)
    this.#answer(status, reasonBytes(reason), readHead(headers), false)
    this.#download.flushSoon()
    return true
  }

  onPlainHead({ head, reason, status }: PlainHead, resume: () => void) {
    if (this.#isOver) return
    this.#isPlain = true
    this.#download.begin(resume)
    this.#answer(status, reason, head, true)
  }

  onPiece() {
    this.#download.flush()
  }

  /** `mayCome`: the same head may come again. */
  #answer(status: number, reason: string, head: ResponseHead, mayCome: boolean) {
    const { res, watch } = this.#exchange
    this.#head = head
    this.#events = eventStreamOf(this.#exchange, status, head)
    if (isOpenEnded(head)) this.#requestBody = this.#upload.chunks
    watch.asked(this.#upload.chunks, head)
    this.#upload.answered()
    const withoutLength = status === 204 || head.hasLength && this.#events?.takesComments === true
    try {
      // Only the machine's own Date, if any.
      res.sendDate = false
      res.writeHead(status, reason, outwardHead(this.#exchange, head, { mayCome, withoutLength }) as Array<string>)
    } catch (error) {
      return this.#giveUp(toError(error), true)
    }
    if (this.#events !== undefined) markEventStream(res)
  }

  onData(chunk: Buffer) {
    if (this.#isOver) return true
    this.#unmetered += chunk.length
    this.#exchange.watch.heard(chunk)
    if (!this.#isPlain) this.#download.flushSoon()
    return this.#download.push(this.#events === undefined ? chunk : this.#events.push(chunk))
  }

  onComplete() {
    if (this.#isOver) return
    this.#isComplete = true
    this.#connection?.release()
    this.#connection = undefined
    const rest = this.#events?.rest()
    if (rest !== undefined) this.#download.push(rest)
    this.#over(this.#finish)
  }

  readonly #finish = () => {
    const { req, res } = this.#exchange
    if (req.complete) return this.#exchange.isAlone() ? this.#download.endNow() : this.#download.endSoon()
    // The rest of the body goes unread.
    this.#upload.stop()
    this.#download.stop()
    this.#download.writeHeld()
    linger(req, () => res.end())
  }

  /** The machine's part is over. A stream on which the client listens may go on without it. */
  #over(end: () => void) {
    if (this.#events === undefined) end()
    else this.#events.over(end)
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
    this.#exchange.relocate(this.#upload.chunks).then((now) => {
      if (this.#isOver) return
      if (now === undefined) this.#giveUp(error, false)
      else this.#send(now, true)
    }).catch((failure: unknown) => this.#giveUp(toError(failure), false))
  }

  /** The response broke off. An event stream that can still be ended cleanly reports its calls as interrupted. */
  #breakOff(head: ResponseHead) {
    this.#abandon()
    this.#exchange.watch.broke()
    this.#over(() => {
      const { req, res } = this.#exchange
      const last = isOpenEnded(head) ? interruptedCallEvents(this.#requestBody) : undefined
      if (!isOpenEnded(head) || last === undefined && req.method !== "GET") return void res.destroy()
      this.#download.writeHeld()
      res.end(last)
    })
  }
}

/**
 * Streams a request to its machine and the response back, with back-pressure both ways. When one side closes, the other
 * is closed. What is returned ends it for a shutdown: an event stream cleanly, anything else abruptly.
 */
export const forward = (exchange: Exchange): UnderWay => new Forwarding(exchange)
