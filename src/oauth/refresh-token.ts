import { randomToken } from "#src/shared/tokens.ts"
import { createHmac, randomBytes } from "node:crypto"

const prefix = "berth_rt_"

export const newRefreshToken = () => prefix + randomToken()

export const newSalt = () => randomBytes(32)

/**
 * The token that follows another. Derived, so that it can be given twice without being stored; from the token itself and
 * a salt of 256 bits, so that neither an old token nor the table is enough to make it.
 */
export const successorOf = (token: string, salt: Uint8Array) =>
  prefix + createHmac("sha256", salt).update(token).digest("base64url")
