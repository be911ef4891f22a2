import { randomBytes } from "node:crypto"

/** Temporary names carry the process, so that a later one can tell what a crash left behind. */
const pattern = /^\.tmp-(\d+)-[a-f0-9]+$/

const mine = new Set<string>()

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    // EPERM: it runs, as someone else.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}

/** A name for something half-made; `releaseTemporary` ends its protection from the collection. */
export const temporaryName = (): string => {
  const name = `.tmp-${process.pid}-${randomBytes(8).toString("hex")}`
  mine.add(name)
  return name
}

export const releaseTemporary = (name: string): void => void mine.delete(name)

/** Whether a directory entry is half-made and nobody is at work on it. */
export const isAbandoned = (name: string): boolean => {
  const pid = Number(pattern.exec(name)?.[1] ?? 0)
  if (pid === 0) return false
  return pid === process.pid ? !mine.has(name) : !isAlive(pid)
}
