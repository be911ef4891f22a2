import { rpcIdIn } from "#http/answers/json-rpc.ts"
import { type IncomingMessage } from "node:http"
import { readBody } from "./read-body.ts"

/** A message whose body is larger, was sent on already or waits for our word is answered without its id. */
const maxBytes = 1024 * 1024

/** The id of the request that a POST holds; null: there is none, or it can't be read (JSON-RPC 2.0 §5). */
export const rpcIdOf = async (req: IncomingMessage) => {
  if (req.method !== "POST" || req.readableDidRead || req.headers.expect !== undefined) return null
  const read = await readBody(req, maxBytes)
  return read._tag === "Read" ? rpcIdIn(read.bytes.toString()) : null
}
