import { type DeploymentStatus, isSettled, type Stage } from "./transitions.ts"

/** What is known of the deployment that a machine is named after. */
export interface MachineRecord {
  readonly status: DeploymentStatus
  readonly stage: Stage
  readonly active: boolean
  /** Whether the server was deployed to again since. */
  readonly followed: boolean
}

/**
 * Whether a machine serves nobody and never will: its deployment is gone with its server, or has ended and does not
 * serve. A failed one that was kept for its logs stays until the next deployment. Never a guess such as "the oldest".
 */
export const isLeftover = (record: MachineRecord | undefined): boolean => {
  if (record === undefined) return true
  if (record.active || !isSettled(record.status)) return false
  return record.stage !== "kept" || record.followed
}
