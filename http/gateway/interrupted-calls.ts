import { errorEvents } from "#src/routing/error-events.ts"
import { messagesIn } from "./rpc-messages.ts"

/** JSON-RPC leaves -32000 to implementations; the SDKs name it "connection closed". */
const code = -32000
const message = "The server restarted while the call was running, so its outcome is unknown; try again"

/** The ids of the requests in a JSON-RPC body, a batch or a single one; none in anything else. */
const idsIn = (body: string): ReadonlyArray<string | number> =>
  messagesIn(body).flatMap(({ id, jsonrpc, method }) =>
    jsonrpc === "2.0" && typeof method === "string" && (typeof id === "string" || typeof id === "number") ? [id] : []
  )

/**
 * The end of a broken event stream that would have carried the responses to this body: an error for each request in it.
 * Undefined when it holds none. A client that already has its response ignores a second one.
 */
export const interruptedCallEvents = (body: ReadonlyArray<Buffer>): string | undefined => {
  const ids = idsIn(Buffer.concat(body).toString("utf8"))
  return ids.length === 0 ? undefined : errorEvents(ids, { code, message })
}
