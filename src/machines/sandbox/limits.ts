import type { MachineSpec } from "#src/machines/Machines.ts"

export interface Limits {
  readonly memoryBytes: number
  /** CPUs' worth of time. */
  readonly cpus: number
  /** Weight against the other machines when the host is busy (cgroup v1 scale, 1024 is usual). */
  readonly shares: number
  readonly pids: number
  readonly files: number
  /** Bytes that the machine may write to its own layer, and again to /tmp; both lie in memory. */
  readonly scratchBytes: number
}

const sizes = {
  "shared-1x": { cpus: 1, shares: 512 },
  "shared-2x": { cpus: 2, shares: 1024 },
  "performance-1x": { cpus: 1, shares: 4096 }
} as const

const MIB = 1024 * 1024

export const limitsOf = (spec: Pick<MachineSpec, "cpu" | "memoryMb">): Limits => ({
  ...sizes[spec.cpu],
  memoryBytes: spec.memoryMb * MIB,
  pids: 256,
  files: 4096,
  scratchBytes: Math.max(16, Math.floor(spec.memoryMb / 2)) * MIB
})

/**
 * Per-process bound on writable private memory where no cgroup can limit the machine as a whole: it stops growth
 * between two polls of the keeper. Address space cannot be bounded, since V8 reserves gigabytes that it never touches.
 * The margin is for what counts as data without being used: thread stacks, and from Node 24 on half a gigabyte of V8's.
 */
export const dataLimit = (limits: Limits) => limits.memoryBytes + 1024 * MIB
