import { Effect } from "effect"
import { fetchFrom } from "./loopback.ts"

const seconds = 10

/** Where the server at an address speaks MCP: below a server's `publicUrl`, unless the address says which endpoint. */
export const endpointOf = (url: URL) => {
  const endpoint = new URL(url)
  const path = url.pathname.replace(/\/$/, "")
  endpoint.pathname = /\/(mcp|sse)(\/|$)/.test(path) ? path : `${path}/mcp`
  return endpoint
}

/**
 * Whether an installation says that nothing is at one of its addresses. It is asked without a credential, so that no stream
 * opens and no server wakes; whoever does not answer has not said so.
 */
export const isNothingAt = (url: URL) =>
  Effect.tryPromise(async (signal) => {
    const response = await fetchFrom(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]) })
    await response.body?.cancel()
    return response.status === 404
  }).pipe(Effect.orElseSucceed(() => false))
