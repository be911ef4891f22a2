import { createHmac, randomBytes } from "node:crypto"

interface ReferralLimitOptions {
  /** Maximum of referrals that are remembered; the oldest is forgotten. */
  readonly entries: number
  readonly millis: number
}

/**
 * Counts a caller's referral to a listing once in a while, so that nobody can make a business look wanted by asking again.
 * Addresses are never kept: only digests, for that while and in memory, with a key that ends with the process.
 */
export const makeReferralLimit = ({ entries, millis }: ReferralLimitOptions) => {
  const key = randomBytes(32)
  /** When each counted, the oldest first. */
  const counted = new Map<string, number>()

  return (now: number, address: string, listingId: string): boolean => {
    for (const [digest, at] of counted) {
      if (at + millis > now && counted.size < entries) break
      counted.delete(digest)
    }
    const digest = createHmac("sha256", key).update(`${listingId} ${address}`).digest("base64url")
    if (counted.has(digest)) return false
    counted.set(digest, now)
    return true
  }
}
