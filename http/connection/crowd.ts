import { type ClientResponse } from "./client-response.ts"

/** How many requests and event streams an account may have open at a time (docs/decisions/silent-streams.md). */
export const mostOfAccount = (descriptors: number) => Math.min(2_000, Math.floor(descriptors / 16))

export const crowdedSeconds = 5

/** What a refusal says to who has too much open. */
export const crowdedText = (who: string, most: number, what: string) =>
  `${who} has ${most} ${what}, the most that are allowed at a time: end some, then try again`

/** Counts beyond this many are dropped when they are 0. */
const mostZeros = 1_000

export const makeCounts = () => {
  const counts = new Map<string, number>()
  return {
    of: (key: string) => counts.get(key) ?? 0,
    add: (key: string, change: number) => {
      const now = (counts.get(key) ?? 0) + change
      if (now <= 0 && counts.size > mostZeros) counts.delete(key)
      else counts.set(key, now)
    }
  }
}

/** Counts a response while it is open. One whose client has left already will not say again that it closes. */
export const whileOpen = (res: Pick<ClientResponse, "destroyed" | "once">, add: (change: 1 | -1) => void) => {
  if (res.destroyed) return
  add(1)
  res.once("close", () => add(-1))
}
