/** How long a rotated refresh token may be reused: clients send it twice, from two processes, or lose a response. */
export const graceMillis = 60_000

export interface Rotating {
  readonly expiresAt: Date
  readonly rotatedAt: Date | null
  /** Whether a later token of the family was rotated, which proves that the client received the successor. */
  readonly successorUsed: boolean
}

/**
 * What to do with a refresh token: `rotate` it; `repeat` its successor; treat it as stolen (`replay`, RFC 9700
 * §4.14.2); or reject it as `expired`. `now` is in Unix milliseconds.
 */
export const rotationOf = (
  { expiresAt, rotatedAt, successorUsed }: Rotating,
  now: number
): "rotate" | "repeat" | "replay" | "expired" => {
  if (rotatedAt !== null && (successorUsed || now - rotatedAt.getTime() > graceMillis)) return "replay"
  if (expiresAt.getTime() <= now) return "expired"
  return rotatedAt === null ? "rotate" : "repeat"
}
