/**
 * Ends an event that was cut in the middle: its last line (a colon alone is a comment), and the event itself, with a
 * type and an id that clients ignore.
 */
const cutOff = ":\nevent: interrupted\nid:\n\n"

/** The end of a broken event stream: an error for each of these requests. A client that has its response ignores it. */
export const errorEvents = (
  ids: ReadonlyArray<string | number>,
  error: { readonly code: number; readonly message: string }
) => {
  const messages = ids.map((id) => JSON.stringify({ jsonrpc: "2.0", id, error }))
  return `${cutOff}${messages.map((data) => `event: message\ndata: ${data}\n\n`).join("")}`
}
