import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type Taking } from "./UsageRepo.ts"

export type Admission =
  | { readonly _tag: "Admitted" }
  /** All requests of the period are used, as many as `used`; the next one begins at `resetsAt`. */
  | { readonly _tag: "Refused"; readonly used: number; readonly resetsAt: Date }

interface Taken {
  readonly granted: number
  readonly counted: boolean
  readonly used: number
  readonly elsewhere: number
  readonly resetsAt: Date
}

interface MonthBudgetOptions {
  /** Counts requests of the account, to be written with the next flush. */
  readonly count: (by: number) => void
  readonly take: (wish: Pick<Taking, "id" | "allowed" | "wanted" | "block">) => Promise<Taken>
  /** Writes what was counted, and gives back what was released. */
  readonly settle: () => Promise<unknown>
}

const admitted: Admission = { _tag: "Admitted" }

const [leastBlock, mostBlock] = [16, 10_000]
/** Less than reservations count in the database: a process that was suspended must not use what others have by now. */
const usableFor = 10_000
/** How long a refusal is the answer to others. */
const refusedFor = 1_000
/** After a failure the database is asked no more for this long. */
const retryAfter = 5_000
/** Others give back what they hold within their flush interval, or it ends by itself. */
const [askAgainAfter, patience] = [100, 5_000]

/**
 * One account's requests of its period, as this process knows them: what it has reserved and not used, and who waits for
 * more. Requests that wait together are taken together. Near the limit nothing is reserved, so that the last request
 * goes to whoever asks first, in whichever process.
 */
export const makeMonthBudget = ({ count, settle, take }: MonthBudgetOptions) => {
  let reserved: Array<string> = []
  let left = 0
  let reservedAt = 0
  /** The limit that it was reserved under: what a larger plan allowed, a smaller one does not. */
  let reservedFor = 0
  /** Of the newest request: the plan may change while others wait. */
  let latest = 0
  let block = leastBlock
  let takenSinceRelease = 0
  let refused = { until: 0, limit: 0, used: 0, resetsAt: new Date(0) }
  let failedAt = -Infinity
  let usedAt = Date.now()
  let taking = false
  const waiting: Array<(admission: Admission) => void> = []

  const answer = (number: number, admission: Admission) => {
    for (const resolve of waiting.splice(0, number)) resolve(admission)
  }

  /** Lets through what waits, uncounted as yet, as far as the number goes; the rest stays reserved. */
  const letThrough = (number: number) => {
    const now = Math.min(number, waiting.length)
    if (now > 0) count(now)
    answer(now, admitted)
    return number - now
  }

  const refuseAll = (limit: number, used: number, resetsAt: Date) => {
    refused = { until: Date.now() + refusedFor, limit, used, resetsAt }
    answer(Infinity, { _tag: "Refused", used, resetsAt })
  }

  const takeFor = async () => {
    const giveUpAt = Date.now() + patience
    while (waiting.length > 0) {
      // Ours would count as used below.
      if (latest < reservedFor) await settle()
      const [wanted, limit] = [waiting.length, latest]
      const id = randomUUID()
      // Only now: it is given back also when the answer is lost, but not before it is there.
      const { counted, elsewhere, granted, resetsAt, used } = await take({ id, allowed: limit, wanted, block })
        .finally(() => reserved.push(id))
      if (!counted) {
        reservedAt = Date.now()
        reservedFor = limit
        takenSinceRelease += granted
        left += letThrough(granted)
        block = Math.min(mostBlock, block * 2)
        continue
      }
      answer(granted, admitted)
      if (granted >= wanted) continue
      if (elsewhere === 0 || Date.now() > giveUpAt) return refuseAll(limit, used + granted, resetsAt)
      // Another process may hold more than it needs, as this one may.
      await settle()
      await sleep(askAgainAfter)
    }
  }

  const serve = async () => {
    taking = true
    try {
      await takeFor()
    } catch {
      failedAt = Date.now()
      letThrough(waiting.length)
    } finally {
      taking = false
    }
  }

  return {
    /** Counts a request that the limit allows. Without a wait where something is left of what is reserved. */
    admit: (limit: number): Admission | Promise<Admission> => {
      const now = usedAt = Date.now()
      latest = limit
      if (left > 0 && limit >= reservedFor && now - reservedAt < usableFor) {
        left--
        count(1)
        return admitted
      }
      if (now < refused.until && limit <= refused.limit) {
        return { _tag: "Refused", used: refused.used, resetsAt: refused.resetsAt }
      }
      if (now - failedAt < retryAfter) {
        count(1)
        return admitted
      }
      const admission = new Promise<Admission>((resolve) => void waiting.push(resolve))
      if (!taking) void serve()
      return admission
    },
    /** Ends all reservations: returns their ids, to be given back together with what was counted until now. */
    release: () => {
      block = Math.max(leastBlock, Math.min(mostBlock, takenSinceRelease - left))
      const ids = reserved
      reserved = []
      left = 0
      reservedFor = 0
      takenSinceRelease = 0
      return ids
    },
    usedAt: () => usedAt
  } as const
}

export type MonthBudget = ReturnType<typeof makeMonthBudget>
