/** SIGKILL, by a shell's count. A cgroup sends it, and where there is none the keeper of the machine. */
const killed = 137

/** How a machine ended that nobody stopped; completes "the machine …". */
export const exitWords = (exitCode: number | null): string =>
  exitCode === null
    ? "ended"
    : exitCode === killed
    ? `exited with code ${killed} (SIGKILL, as when it takes more memory than it has)`
    : `exited with code ${exitCode}`
