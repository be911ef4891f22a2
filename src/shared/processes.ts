import { readdirSync, readFileSync } from "node:fs"

/** Identifies a process unambiguously: pids are reused, and start times begin anew with each boot. */
export interface ProcessId {
  readonly pid: number
  /** Clock ticks after boot, field 22 of /proc/PID/stat (proc(5)). */
  readonly start: string
  readonly boot: string
}

interface Stat {
  readonly state: string
  readonly parent: number
  readonly start: string
}

const readStat = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name (field 2) may hold spaces and parentheses: the fixed fields follow its last ")".
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { state: fields[0] ?? "X", parent: Number(fields[1]), start: fields[19] ?? "" }
  } catch {
    return undefined
  }
}

let boot: string | undefined
const bootId = () => boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()

export const identify = (pid: number): ProcessId | undefined => {
  const stat = readStat(pid)
  return stat && { pid, start: stat.start, boot: bootId() }
}

/** A zombie counts as ended: it only waits for a parent that may never reap it. */
export const alive = (process: ProcessId): boolean => {
  const stat = readStat(process.pid)
  return stat !== undefined && stat.start === process.start && !/[ZX]/.test(stat.state) && process.boot === bootId()
}

const childPids = (pid: number): ReadonlyArray<number> => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter((s) => s !== "").map(Number)
  } catch {
    // Kernels without CONFIG_PROC_CHILDREN.
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number)
      .filter((candidate) => readStat(candidate)?.parent === pid)
  }
}

export const childOf = (process: ProcessId): ProcessId | undefined => {
  if (!alive(process)) return undefined
  const pid = childPids(process.pid)[0]
  return pid === undefined ? undefined : identify(pid)
}

/** Never signals another process that got the same pid later. */
export const signal = (target: ProcessId, name: "SIGTERM" | "SIGKILL"): void => {
  if (!alive(target)) return
  try {
    process.kill(target.pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}
