import { randomToken } from "#src/shared/tokens.ts"
import { createHmac, randomBytes } from "node:crypto"

const prefix = "berth_rt_"

export const newRefreshToken = () => prefix + randomToken()

export const newSalt = () => randomBytes(32)

/**
 * The successor of a token. Derived, so that it can be sent twice without being stored; from the token and a salt of
 * 256 bits, so that neither an old token nor the table alone is enough to compute it.
 */
export const successorOf = (token: string, salt: Uint8Array) =>
  prefix + createHmac("sha256", salt).update(token).digest("base64url")
