/** States that callers see (contract: Platform resources, a deployment). */
export const statuses = ["pending", "building", "running", "failed", "rolled_back"] as const
export type DeploymentStatus = typeof statuses[number]

/**
 * Where a pipeline is. A stage is written before its side effects, so that after a crash the resumed pipeline knows
 * what may exist already.
 */
export const stages = [
  "pending",
  "resolving",
  "scanning",
  "mirroring",
  "creating",
  "starting",
  "checking",
  "swapping",
  "draining",
  "retired",
  "failed",
  "kept"
] as const
export type Stage = typeof stages[number]

interface StageRule {
  /** The status that callers see in this stage. */
  readonly status: DeploymentStatus
  /** The progress message for people. */
  readonly doing: string
  /** Stages that may follow. A stage may always be entered again: that is how a pipeline resumes. */
  readonly next: ReadonlyArray<Stage>
}

/**
 * The state machine. `swapping` is the point of no return: it is entered in the transaction that makes the deployment
 * active, and from then on the deployment can't fail. `kept` is `failed` with its machine kept for its logs.
 */
export const rules: Readonly<Record<Stage, StageRule>> = {
  pending: { status: "pending", doing: "Waiting to begin", next: ["resolving", "failed"] },
  resolving: { status: "building", doing: "Finding the image", next: ["scanning", "failed"] },
  scanning: { status: "building", doing: "Looking for a vulnerability scanner", next: ["mirroring", "failed"] },
  mirroring: { status: "building", doing: "Copying the image", next: ["creating", "failed"] },
  creating: { status: "building", doing: "Creating the machine", next: ["starting", "failed", "kept"] },
  starting: { status: "building", doing: "Starting the machine", next: ["checking", "failed", "kept"] },
  checking: { status: "building", doing: "Waiting for the health check", next: ["swapping", "failed", "kept"] },
  swapping: { status: "running", doing: "Directing requests to the new machine", next: ["draining", "retired"] },
  draining: { status: "running", doing: "Letting the old machine finish its requests", next: ["retired"] },
  retired: { status: "running", doing: "The deployment is running", next: [] },
  failed: { status: "failed", doing: "The deployment failed", next: [] },
  kept: { status: "failed", doing: "The deployment failed; its machine is kept for its logs", next: ["failed"] }
}

/** Stages from which `stage` may be entered, including itself. */
export const sourcesOf = (stage: Stage): ReadonlyArray<Stage> =>
  stages.filter((from) => from === stage || rules[from].next.includes(stage))

/** Stages in which a pipeline still has work to do. */
export const openStages: ReadonlyArray<Stage> = stages.filter((stage) => !["retired", "failed", "kept"].includes(stage))

/** For the caller a deployment has ended once it serves or has failed; draining continues in the background. */
export const isSettled = (status: DeploymentStatus) => status !== "pending" && status !== "building"

/** Stages in which a machine may exist although the deployment does not serve yet. */
export const mayHaveMachine = (stage: Stage) => ["creating", "starting", "checking"].includes(stage)

const steps: ReadonlyArray<Stage> = stages.slice(1, 8)

/** Progress of a pipeline: `step` of `total`; a settled one is at the end. */
export const stepOf = (stage: Stage) => {
  const at = steps.indexOf(stage)
  return { step: at >= 0 ? at + 1 : stage === "pending" ? 0 : steps.length, total: steps.length }
}
