import { HostedFetch } from "#src/composites/HostedFetch.ts"
import { type Incoming, responseOf } from "#src/machines/machine-fetch.ts"
import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect, Layer } from "effect"
import { setMaxListeners } from "node:events"
import { answer, failure } from "./answer.ts"
import { type Gateway } from "./Gateway.ts"
import { HostedGateway } from "./HostedGateway.ts"
import { insideRequest } from "./inside-request.ts"
import { InsideResponse } from "./inside-response.ts"

/** Of one answer, or of one event stream. */
const maxBytes = 2 * 1024 * 1024

const nothing = Buffer.alloc(0)

/** `fetch` of what the gateway answers, without HTTP between: it gets a request as if Node had read it. */
const fetchInside = ({ handle, match }: Gateway, own: Readonly<Record<string, string>>): FetchLike => (url, init) =>
  new Promise((resolve, reject) => {
    const { host, pathname, search } = new URL(url)
    const { body, method = "GET", signal } = init ?? {}
    const asked = init?.headers instanceof Headers ? init.headers : new Headers(init?.headers)
    const headers = { ...Object.fromEntries(asked), ...own, host }
    const sent = typeof body === "string" ? Buffer.from(body) : nothing
    const req = insideRequest({ method, url: pathname + search, headers }, sent)
    const res = new InsideResponse((incoming: Incoming) => {
      // The machine chooses status and headers: what a Response refuses must not end the process.
      responseOf(incoming, maxBytes).then(resolve, (error: unknown) => {
        res.destroy()
        reject(error)
      })
    }, reject)
    if (signal?.aborted === true) return reject(signal.reason)
    const abort = () => res.destroy(signal?.reason as Error)
    // All requests of an MCP session have its signal: eleven at once are not a leak.
    if (signal !== undefined && signal !== null) {
      setMaxListeners(0, signal)
      signal.addEventListener("abort", abort)
      res.once("close", () => signal.removeEventListener("abort", abort))
    }
    const found = match(req)
    if (found === undefined) return answer(req, res, failure(404, "NOT_FOUND", "There is no such server"))
    handle(found, req, res)
  })

/** The gateway as composites use it: without a network between. */
export const HostedFetchLive = Layer.effect(
  HostedFetch,
  Effect.map(HostedGateway, (gateway) => (headers) => fetchInside(gateway, headers))
)
