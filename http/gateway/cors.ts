import { type IncomingMessage } from "node:http"

/**
 * Open to every origin: hosted servers accept Bearer tokens and no cookies, so another site's page can do nothing that
 * its own server could not. `*` does not cover `Authorization` (Fetch standard, CORS protocol).
 */
const open = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version, Retry-After, X-Request-Id, *"
} as const

const preflight = {
  ...open,
  "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
  "Access-Control-Allow-Headers":
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, *",
  "Access-Control-Max-Age": "86400"
} as const

export const cors = { open, preflight } as const

export const isPreflight = ({ headers, method }: IncomingMessage) =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined

const openHeaders: ReadonlyArray<string> = Object.entries(open).flat()

/** CORS headers to add to a machine's response; none when it has its own. */
export const corsFor = (req: IncomingMessage, hasOwn: boolean): ReadonlyArray<string> =>
  hasOwn || req.headers.origin === undefined ? [] : openHeaders
