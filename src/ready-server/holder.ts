import { decodeJwt } from "jose"
import type { IncomingHttpHeaders } from "node:http"

const bearer = /^bearer +(\S+)$/i

/**
 * Identifies a request's caller: by the subject and client of its token, which outlive the token; by the whole header
 * when the token is opaque; empty without a header. Decoded, not verified: the gateway has verified it.
 */
export const callerOf = ({ authorization = "" }: IncomingHttpHeaders): string => {
  try {
    const { client_id, iss, sub } = decodeJwt(bearer.exec(authorization)?.[1] ?? "")
    return sub === undefined ? authorization : JSON.stringify([iss, sub, client_id])
  } catch {
    return authorization
  }
}
