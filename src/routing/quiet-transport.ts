import { type FetchLike, type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { isJSONRPCRequest } from "@modelcontextprotocol/sdk/types.js"

/** Requests of a server that are answered in one session: the SDK's client sends a request of its own for each. */
const mostAnswered = 5
/** Streams that one session opens. The SDK's client opens another whenever one ends, as soon as the server likes. */
const mostStreams = 10

/** The transport, which hands on the first few requests of a server and drops the others; answers and notices pass. */
export const withFewRequests = <T extends Transport>(transport: T): T => {
  let handler: Transport["onmessage"]
  let requests = 0
  Object.defineProperty(transport, "onmessage", {
    get: () => handler,
    set: (next: Transport["onmessage"]) => {
      handler = next === undefined ? undefined : (message, extra) => {
        if (isJSONRPCRequest(message) && ++requests > mostAnswered) return
        next(message, extra)
      }
    }
  })
  return transport
}

/** `fetch` of one session, for which the server offers no stream any more after the first few (405). */
export const withFewStreams = (fetch: FetchLike): FetchLike => {
  let streams = 0
  return (url, init) =>
    (init?.method ?? "GET") === "GET" && ++streams > mostStreams
      ? Promise.resolve(new Response(null, { status: 405 }))
      : fetch(url, init)
}
