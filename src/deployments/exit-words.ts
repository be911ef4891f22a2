import { constants } from "node:os"

/** SIGKILL, by a shell's count. A cgroup sends it, and where there is none the keeper of the machine. */
export const killed = 137

const signals = Object.entries(constants.signals)

const ofSignal = (exitCode: number) => {
  const [name] = signals.find(([, number]) => number === exitCode - 128) ?? []
  return name === undefined ? "" : ` (${name})`
}

/** How a machine ended that nobody stopped; completes "the machine …". */
export const exitWords = (exitCode: number | null): string =>
  exitCode === null
    ? "ended"
    : exitCode === killed
    ? `exited with code ${killed} (SIGKILL, as when it takes more memory than it has)`
    : `exited with code ${exitCode}${ofSignal(exitCode)}`
