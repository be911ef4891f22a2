import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import type { LookupFunction } from "node:net"
import { Readable } from "node:stream"

/** `*.localhost` is the loopback address (RFC 6761 § 6.3), but Node's resolver on many machines doesn't resolve it. */
export const isLoopbackName = ({ hostname }: URL) => hostname.endsWith(".localhost")

const loopback: LookupFunction = (_name, { all }, answer) => {
  const address = "127.0.0.1"
  if (all === true) answer(null, [{ address, family: 4 }])
  else answer(null, address, 4)
}

/** Statuses whose responses have no body (Fetch § 2.2.3). */
const bodiless = new Set([204, 205, 304])

/**
 * The part of `fetch` that the SDK's transports use, for loopback names. `fetch` itself can't be given an address and
 * can't send a Host that differs from what it connects to, and the gateway finds the server by Host.
 */
const fetchLoopback = (url: URL, { body, headers, method = "GET", signal }: RequestInit): Promise<Response> =>
  new Promise((resolve, reject) => {
    const outgoing = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      lookup: loopback,
      ...(signal === null || signal === undefined ? {} : { signal })
    })
    outgoing.on("error", reject)
    outgoing.on("response", (incoming) => {
      const received = new Headers()
      for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
        received.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "")
      }
      const status = incoming.statusCode ?? 502
      if (bodiless.has(status)) incoming.resume()
      // Node's and the DOM's types for the same stream differ.
      const content = bodiless.has(status) ? null : Readable.toWeb(incoming) as ReadableStream<Uint8Array>
      resolve(new Response(content, { status, headers: received }))
    })
    outgoing.end(typeof body === "string" ? body : undefined)
  })

/** `fetch`, for loopback names too. */
export const fetchFrom = (url: URL, init: RequestInit) =>
  isLoopbackName(url) ? fetchLoopback(url, init) : fetch(url, init)
