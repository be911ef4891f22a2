import { decodeJwt } from "jose"
import type { IncomingHttpHeaders } from "node:http"

const bearer = /^bearer +(\S+)$/i

/**
 * Whose a request is, for telling it from another's: the subject and client of its token, which outlive the token
 * itself; the whole header when the token is opaque; the same for all who send none. Read, not verified: the gateway
 * has.
 */
export const holderOf = ({ authorization = "" }: IncomingHttpHeaders): string => {
  try {
    const { client_id, iss, sub } = decodeJwt(bearer.exec(authorization)?.[1] ?? "")
    return sub === undefined ? authorization : JSON.stringify([iss, sub, client_id])
  } catch {
    return authorization
  }
}
