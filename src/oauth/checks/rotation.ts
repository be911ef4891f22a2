/** For so long a refresh token that was used may come again: clients ask twice, from two addresses, or lose an answer. */
export const graceMillis = 60_000

export interface Rotating {
  readonly expiresAt: Date
  readonly rotatedAt: Date | null
  /** Whether the token that took its place was exchanged in its turn: its holder has it for certain, then. */
  readonly successorUsed: boolean
}

/**
 * What to do with a refresh token: `rotate` it; `repeat` its successor; take it for stolen (`replay`, RFC 9700
 * §4.14.2); or refuse it as `expired`. `now` is in Unix milliseconds.
 */
export const rotationOf = (
  { expiresAt, rotatedAt, successorUsed }: Rotating,
  now: number
): "rotate" | "repeat" | "replay" | "expired" => {
  if (rotatedAt !== null && (successorUsed || now - rotatedAt.getTime() > graceMillis)) return "replay"
  if (expiresAt.getTime() <= now) return "expired"
  return rotatedAt === null ? "rotate" : "repeat"
}
