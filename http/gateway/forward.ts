import { markEventStream } from "#http/connection/connections.ts"
import { linger } from "#http/connection/linger.ts"
import { connectTo } from "#src/machines/host.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Addressing } from "#src/routing/addressing.ts"
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from "node:http"
import { corsFor } from "./cors.ts"
import { hasBody } from "./framing.ts"
import { responseHeaders } from "./headers.ts"
import { interruptedCallEvents } from "./interrupted-calls.ts"
import { agent, connectTimedOut, connectTimeoutMs, mayRetry, ReplayBuffer } from "./upstream.ts"

/** One request to a machine. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly path: string
  /** Flat list of names and values. */
  readonly headers: ReadonlyArray<string>
  readonly addressing: Addressing
  readonly machine: MachineAddress
  /** The request's body, if it was already read. */
  readonly body: Buffer | undefined
  /** The client waits for `100 Continue` before it sends the body. */
  readonly awaitsContinue: boolean
  /** Rewrites an event stream; undefined passes every byte unchanged. */
  readonly rewriter: (() => { push: (chunk: Buffer) => Buffer; end: () => Buffer }) | undefined
  readonly closing: () => boolean
  readonly onBytes: (count: number) => void
  /** Called when the machine can't be reached: its new address, if it moved. */
  readonly relocate: () => Promise<MachineAddress | undefined>
  /** No response will come; `sent`: the machine may have executed the request. */
  readonly onFailure: (error: Error, sent: boolean) => void
  readonly onEnd: () => void
}

const isEventStream = (response: IncomingMessage) =>
  /^text\/event-stream\b/i.test(response.headers["content-type"] ?? "")

/** Whether we can append to the machine's bytes: an event stream without compression and fixed length. */
const isOpenEnded = (response: IncomingMessage) =>
  isEventStream(response) && response.headers["content-encoding"] === undefined &&
  response.headers["content-length"] === undefined

/**
 * Streams a request to its machine and the response back, with back-pressure both ways. When one side closes, the other
 * is closed. The returned function ends it for a shutdown: an event stream cleanly, anything else abruptly.
 */
export const forward = (exchange: Exchange) => {
  const { onBytes, req, res } = exchange
  const replay = new ReplayBuffer()
  const withBody = hasBody(req)
  let upstream: ClientRequest
  let response: IncomingMessage | undefined
  /** The request that an event stream answers; parsed only when the stream breaks. */
  let requestBody: ReadonlyArray<Buffer> = []
  let moved = false
  let ended = false

  const end = () => {
    if (ended) return
    ended = true
    exchange.onEnd()
  }

  const giveUp = (error: Error, sent: boolean) => {
    upstream.destroy()
    exchange.onFailure(error, sent)
  }

  /** The response broke off. An event stream that can still be ended cleanly reports its calls as interrupted. */
  const onBrokenAnswer = (up: IncomingMessage) => {
    if (res.writableEnded) return
    if (!isOpenEnded(up)) return void res.destroy()
    const last = interruptedCallEvents(requestBody)
    if (last === undefined && req.method !== "GET") res.destroy()
    else res.end(last)
  }

  const onError = async (error: Error, attempt: ClientRequest, connected: boolean) => {
    if (attempt !== upstream || res.destroyed) return
    // The response may be complete although the machine did not read the whole body.
    if (response !== undefined) return response.complete ? undefined : onBrokenAnswer(response)
    if (connected && mayRetry(attempt, error, req.method) && replay.isComplete) return send(exchange.machine, true)
    if (connected || moved || !replay.isComplete) return giveUp(error, connected)
    moved = true
    const machine = await exchange.relocate()
    if (res.destroyed) return
    return machine === undefined ? giveUp(error, false) : send(machine, true)
  }

  const send = (machine: MachineAddress, fresh: boolean) => {
    const attempt = upstream = request({
      ...connectTo(machine),
      method: req.method,
      path: exchange.path,
      headers: exchange.headers,
      agent: fresh ? false : agent,
      setHost: false
    })
    let connected = true
    attempt.on("socket", (socket) => {
      if (!socket.connecting) return
      connected = false
      const timer = setTimeout(() => attempt.destroy(connectTimedOut()), connectTimeoutMs)
      socket.once("connect", () => {
        connected = true
        clearTimeout(timer)
      })
      socket.once("close", () => clearTimeout(timer))
    })
    let failed = false
    const fail = (error: Error) => {
      if (failed) return
      failed = true
      void onError(error, attempt, connected)
    }
    attempt.on("error", fail)
    attempt.on("response", receive)
    attempt.on("upgrade", (_, socket) => {
      socket.destroy()
      fail(new Error("it switched to another protocol"))
    })
    attempt.on("close", () => response === undefined && fail(new Error("it hung up")))
    attempt.on("drain", () => req.resume())
    for (const chunk of exchange.body === undefined ? replay.chunks : [exchange.body]) attempt.write(chunk)
    if (!withBody || req.complete && req.readableEnded) attempt.end()
  }

  const upload = () => {
    req.on("data", (chunk: Buffer) => {
      onBytes(chunk.length)
      if (response === undefined) replay.add(chunk)
      if (!upstream.write(chunk)) req.pause()
    })
    req.on("end", () => upstream.end())
  }

  const receive = (up: IncomingMessage) => {
    response = up
    if (isOpenEnded(up)) requestBody = exchange.body === undefined ? replay.chunks : [exchange.body]
    replay.clear()
    const plain = isEventStream(up) && up.headers["content-encoding"] === undefined
    const rewriter = plain ? exchange.rewriter?.() : undefined
    const headers = [...responseHeaders(up, exchange.addressing, rewriter !== undefined), ...corsFor(req, up)]
    if (exchange.closing()) headers.push("Connection", "close")
    try {
      // Only the machine's own Date, if any.
      res.sendDate = false
      res.writeHead(up.statusCode ?? 502, up.statusMessage, headers)
    } catch (error) {
      return giveUp(error instanceof Error ? error : new Error(String(error)), true)
    }
    if (isEventStream(up)) markEventStream(res)
    let hasChunk = false
    const write = (chunk: Buffer) => {
      hasChunk = true
      if (chunk.length > 0 && !res.write(chunk)) up.pause()
    }
    up.on("data", (chunk: Buffer) => {
      onBytes(chunk.length)
      write(rewriter === undefined ? chunk : rewriter.push(chunk))
    })
    up.on("end", () => {
      if (rewriter !== undefined) write(rewriter.end())
      if (req.complete) return void res.end()
      // The machine did not read the rest of the body.
      req.removeAllListeners("data")
      upstream.destroy()
      linger(req, () => res.end())
    })
    up.on("error", () => undefined)
    up.on("close", () => up.complete || onBrokenAnswer(up))
    res.on("drain", () => up.resume())
    // Headers don't wait for a first chunk; one that has already arrived shares their packet.
    setImmediate(() => hasChunk || res.writableEnded || res.flushHeaders())
  }

  req.on("error", () => undefined)
  res.on("error", () => undefined)
  res.on("close", () => {
    if (response?.complete !== true) upstream.destroy()
    end()
  })
  send(exchange.machine, false)
  if (exchange.body !== undefined) onBytes(exchange.body.length)
  else if (withBody) {
    upload()
    if (exchange.awaitsContinue) res.writeContinue()
  }

  return () => {
    if (response === undefined) return giveUp(new Error("the platform is stopping"), true)
    if (isEventStream(response)) res.end(isOpenEnded(response) ? interruptedCallEvents(requestBody) : undefined)
    else res.destroy()
    upstream.destroy()
  }
}
