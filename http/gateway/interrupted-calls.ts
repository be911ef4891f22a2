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
 * Ends an event that was cut in the middle: its last line (a colon alone is a comment), and the event itself, with a
 * type and an id that clients ignore.
 */
const cutOff = ":\nevent: interrupted\nid:\n\n"

/**
 * The end of a broken event stream that would have carried the responses to this body: an error for each request in it.
 * Undefined when it holds none. A client that already has its response ignores a second one.
 */
export const interruptedCallEvents = (body: ReadonlyArray<Buffer>): string | undefined => {
  const ids = idsIn(Buffer.concat(body).toString("utf8"))
  if (ids.length === 0) return undefined
  const errors = ids.map((id) => JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }))
  return `${cutOff}${errors.map((data) => `event: message\ndata: ${data}\n\n`).join("")}`
}
