import { createHash, timingSafeEqual } from "node:crypto"

/** The exact form of a SHA-256 in base64url (RFC 7636 §4.2). */
const s256 = /^[A-Za-z0-9\-_]{43}$/
/** RFC 7636 §4.1. */
const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/

/** Why a challenge is invalid, or undefined. A missing method means `plain`, which is rejected (OAuth 2.1 §7.5.1). */
export const challengeProblem = (challenge: string | undefined, method: string | undefined): string | undefined => {
  if (challenge === undefined) return "code_challenge is required (PKCE)"
  if (method !== "S256") return "code_challenge_method must be S256"
  return s256.test(challenge) ? undefined : "code_challenge must be the base64url of a SHA-256"
}

/** Whether a verifier belongs to a challenge (RFC 7636 §4.6). */
export const verifierMatches = (verifier: string, challenge: string): boolean => {
  if (!verifierForm.test(verifier)) return false
  const computed = Buffer.from(createHash("sha256").update(verifier).digest("base64url"))
  const expected = Buffer.from(challenge)
  return computed.length === expected.length && timingSafeEqual(computed, expected)
}
