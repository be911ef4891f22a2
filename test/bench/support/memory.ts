import { readFileSync } from "node:fs"

/** Bytes of a process that are in memory (Linux). */
export const residentBytes = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024
