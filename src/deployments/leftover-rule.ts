import { type DeploymentStatus, isSettled, type Stage } from "./transitions.ts"

/** The deployment that a machine is named after. */
export interface MachineRecord {
  readonly status: DeploymentStatus
  readonly stage: Stage
  readonly active: boolean
  /** Whether it was replaced, and stays for what is open there. */
  readonly drains: boolean
  /** Whether the server has a newer deployment. */
  readonly superseded: boolean
}

/**
 * Whether a machine doesn't serve and never will: its deployment was deleted with its server, or has ended and is not
 * active. A failed one that is kept for its logs stays until the next deployment. Never a guess such as "the oldest".
 */
export const isLeftover = (record: MachineRecord | undefined): boolean => {
  if (record === undefined) return true
  if (record.active || record.drains || !isSettled(record.status)) return false
  return record.stage !== "kept" || record.superseded
}
