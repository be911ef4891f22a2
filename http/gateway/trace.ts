import { type ClientResponse } from "#http/connection/client-response.ts"
import { Context, Exit, Option, Tracer } from "effect"
import { type IncomingMessage } from "node:http"

/** W3C Trace Context §3.2.2: version 00 is this to the letter, a later one may go on after it. */
const format = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

const parentIn = (traceparent: string | undefined) => {
  const [, version, traceId, spanId, flags, more] = format.exec(traceparent ?? "") ?? []
  if (traceId === undefined || spanId === undefined || version === "00" && more !== undefined) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "0", 16) & 1) === 1 }
}

/** What the machine receives about the trace: the gateway's span is the parent of its own. */
export interface Onward {
  readonly traceparent: string
  /** The client's could not be read: a trace of our own begins, without its `tracestate` (§3.3, "tracestate"). */
  readonly isNew: boolean
}

const onward = new WeakMap<IncomingMessage, Onward>()

/** What a request's machine is told; undefined where nobody collects traces, and what the client sent passes as it is. */
export const onwardTrace = (req: IncomingMessage) => onward.get(req)

const nanosNow = () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1_000)) * 1_000n

const ended = (status: number) => status >= 500 ? Exit.fail(`status ${status}`) : Exit.void

/** Makes a span of each request for a hosted server, until its answer has ended. */
export const tracer = (spans: Tracer.Tracer) => (req: IncomingMessage, res: ClientResponse, route: string) => {
  const { headers: { traceparent }, method = "" } = req
  const parent = parentIn(typeof traceparent === "string" ? traceparent : undefined)
  // Who began the trace has decided against collecting it.
  if (parent?.sampled === false) return
  const span = spans.span(
    `${method} ${route}`,
    parent === undefined ? Option.none() : Option.some(Tracer.externalSpan(parent)),
    Context.empty(),
    [],
    nanosNow(),
    "server"
  )
  span.attribute("http.request.method", method)
  span.attribute("http.route", route)
  onward.set(req, { traceparent: `00-${span.traceId}-${span.spanId}-01`, isNew: parent === undefined })
  res.once("close", () => {
    const status = res.headersSent ? res.statusCode : 0
    if (status > 0) span.attribute("http.response.status_code", status)
    span.end(nanosNow(), ended(status))
  })
}
