import { isRunning } from "#src/shared/is-running.ts"
import { randomBytes } from "node:crypto"

/** Temporary names contain the process id, so that a later process can recognise what a crash left behind. */
const pattern = /^\.tmp-(\d+)-[a-f0-9]+$/

const inUse = new Set<string>()

/** A name for an incomplete file. The collection keeps it until `releaseTemporary`. */
export const temporaryName = (): string => {
  const name = `.tmp-${process.pid}-${randomBytes(8).toString("hex")}`
  inUse.add(name)
  return name
}

export const releaseTemporary = (name: string): void => void inUse.delete(name)

/** Whether a directory entry is an incomplete file that no process is writing. */
export const isAbandoned = (name: string): boolean => {
  const pid = Number(pattern.exec(name)?.[1] ?? 0)
  if (pid === 0) return false
  return pid === process.pid ? !inUse.has(name) : !isRunning(pid)
}
