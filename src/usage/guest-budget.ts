import { type GuestTaken, type GuestTaking } from "./GuestRequestsRepo.ts"

export type GuestLimits = Pick<GuestTaking, "aMinute" | "aMonth" | "aTime">

/** Why a guest's request is not let in, and when one would be. */
export interface GuestRefusal {
  readonly limit: "guestRequestsPerMinute" | "guestMonthPercent"
  /** In the minute or in the owner's period. */
  readonly allowed: number
  readonly unit: "requests" | "seconds"
  readonly resetsAt: Date
}

/** Undefined: the request is let in. */
type Admission = GuestRefusal | undefined

const mostAhead = 10_000
/** How long a refusal is the answer to others: another process may let more in. */
const refusedFor = 1_000
/** After a failure the database is asked no more for this long. */
const retryAfter = 5_000

const refusalOf = (
  { aMinute, aMonth, aTime }: GuestLimits,
  { minuteMillis, monthLeft, resetsAt, timeLeft }: GuestTaken
): GuestRefusal => {
  if (timeLeft !== null && timeLeft <= 0) {
    return { limit: "guestMonthPercent", allowed: aTime ?? 0, unit: "seconds", resetsAt }
  }
  const requests = { unit: "requests" } as const
  return monthLeft !== null && monthLeft <= 0 || aMinute === null
    ? { ...requests, limit: "guestMonthPercent", allowed: aMonth ?? 0, resetsAt }
    : { ...requests, limit: "guestRequestsPerMinute", allowed: aMinute, resetsAt: new Date(Date.now() + minuteMillis) }
}

/**
 * One guest's requests at one server, as this process knows them: what it has taken and not used, and who waits for
 * more. The first of a minute are taken one by one, then twice as many each time, up to an eighth of what is left.
 */
export const makeGuestBudget = (
  take: (wish: GuestLimits & Pick<GuestTaking, "wanted" | "ahead" | "unused">) => Promise<GuestTaken>
) => {
  let limits: GuestLimits = { aMinute: null, aMonth: null, aTime: null }
  let left = 0
  let ahead = 1
  let minuteEndsAt = 0
  let refused: { readonly until: number; readonly refusal: GuestRefusal } | undefined
  let failedAt = -Infinity
  let taking = false
  const waiting: Array<(admission: Admission) => void> = []

  const answer = (number: number, admission: Admission) => {
    for (const resolve of waiting.splice(0, number)) resolve(admission)
  }

  const takeSome = async () => {
    const [wish, unused, wanted] = [limits, left, waiting.length]
    left = 0
    const taken = await take({ ...wish, wanted, ahead, unused })
    const now = performance.now()
    ahead = Math.min(mostAhead, ahead * 2)
    minuteEndsAt = now + taken.minuteMillis
    // Others may have come meanwhile.
    left = Math.max(0, taken.granted - waiting.length)
    answer(taken.granted, undefined)
    if (taken.granted >= wanted) return
    const refusal = refusalOf(wish, taken)
    refused = { until: now + refusedFor, refusal }
    answer(Infinity, refusal)
  }

  const serve = async () => {
    taking = true
    try {
      while (waiting.length > 0) await takeSome()
    } catch {
      failedAt = performance.now()
      answer(Infinity, undefined)
    } finally {
      taking = false
    }
  }

  /** Without a wait where something is left of what was taken. While the database can't be asked, everything passes. */
  return (now: GuestLimits): Admission | Promise<Admission> => {
    const at = performance.now()
    if (now.aMinute !== limits.aMinute || now.aMonth !== limits.aMonth || now.aTime !== limits.aTime) {
      limits = now
      minuteEndsAt = 0
      refused = undefined
    }
    if (at >= minuteEndsAt) ahead = 1
    else if (left > 0) {
      left--
      return undefined
    }
    if (refused !== undefined && at < refused.until) return refused.refusal
    if (at - failedAt < retryAfter) return undefined
    const admission = new Promise<Admission>((resolve) => void waiting.push(resolve))
    if (!taking) void serve()
    return admission
  }
}

export type GuestBudget = ReturnType<typeof makeGuestBudget>
