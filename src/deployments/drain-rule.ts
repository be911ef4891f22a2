/** A machine that drains: its deployment was replaced, and it stays for what is open there. */
export interface Draining {
  readonly id: string
  readonly version: number
  /** Whether its process runs. */
  readonly isRunning: boolean
  /** Until the limit (`DRAIN_SECONDS`). */
  readonly millisLeft: number
  /** For how long it has had no connection; undefined while it has one, or when that can't be told. */
  readonly quietMillis: number | undefined
  /** Sessions that it handed out and that no client has closed. */
  readonly openSessions: number
}

export type Reason = "ended" | "limit" | "nothing open" | "too many"

/** So long after the last connection has a gateway heard of the swap, and written the sessions that it handed out. */
export const quietBefore = 2_000

/** Of one server: beyond the first number those go that have sessions alone; none stays beyond the second. */
export const most = { quiet: 3, busy: 10 } as const

const isQuiet = ({ quietMillis }: Draining) => quietMillis !== undefined && quietMillis >= quietBefore

const reasonToEnd = (machine: Draining): Reason | undefined =>
  !machine.isRunning
    ? "ended"
    : machine.millisLeft <= 0
    ? "limit"
    : isQuiet(machine) && machine.openSessions <= 0
    ? "nothing open"
    : undefined

/**
 * Which of a server's draining machines go now, and why. A session that nobody closes can't be known to be over: it
 * stays until the limit, unless newer ones need the room (docs/decisions/swap-and-drain.md).
 */
export const drained = (machines: ReadonlyArray<Draining>): ReadonlyMap<string, Reason> => {
  const ends = new Map<string, Reason>()
  for (const machine of machines) {
    const reason = reasonToEnd(machine)
    if (reason !== undefined) ends.set(machine.id, reason)
  }
  const oldestFirst = machines.filter(({ id }) => !ends.has(id)).sort((a, b) => a.version - b.version)
  const cut = (candidates: ReadonlyArray<Draining>, atMost: number) => {
    const beyond = machines.length - ends.size - atMost
    for (const { id } of candidates.slice(0, Math.max(0, beyond))) ends.set(id, "too many")
  }
  cut(oldestFirst.filter(isQuiet), most.quiet)
  cut(oldestFirst.filter(({ id }) => !ends.has(id)), most.busy)
  return ends
}
