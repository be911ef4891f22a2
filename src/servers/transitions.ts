/** The stored states (contract: "Server status"; a `deleted` server has no row). */
export const statuses = ["provisioning", "running", "stopped", "error"] as const
export type Status = typeof statuses[number]

interface EventRule {
  /** The event in words. */
  readonly what: string
  /** The states in which it applies; in any other it changes nothing. */
  readonly from: ReadonlyArray<Status>
  readonly to: Status
}

const any = statuses
const notStopped = ["provisioning", "running", "error"] as const

/**
 * The whole state machine. A new server is `provisioning`. The results of deployments and the owner's requests apply in
 * any state; the watch over machines applies only to servers that nobody stopped.
 */
export const rules = {
  // Deployments.
  deploymentBegun: {
    what: "A deployment begins where nothing serves",
    from: ["running", "stopped", "error"],
    to: "provisioning"
  },
  deploymentServes: { what: "Requests go to a new machine", from: any, to: "running" },
  deploymentFailed: { what: "A deployment failed and nothing serves, or its machine is kept", from: any, to: "error" },
  // The owner's requests, where something is deployed.
  started: { what: "It was started, and is healthy", from: any, to: "running" },
  startFailed: { what: "It was started, and did not become healthy", from: any, to: "error" },
  stopped: { what: "It was stopped", from: any, to: "stopped" },
  // Idleness (docs/decisions/sleeping-servers.md). Those from `stopped` apply only to a server that sleeps.
  fellAsleep: {
    what: "Nobody used it for autoStopSeconds, or its account's machine time is used up",
    from: ["running", "error"],
    to: "stopped"
  },
  woke: { what: "A request woke it, and it is healthy", from: ["stopped"], to: "running" },
  wokeWithoutImage: { what: "A request wakes it, and its image is not here", from: ["stopped"], to: "provisioning" },
  wakeGivenUp: { what: "It could not be woken too often in a row", from: ["stopped"], to: "error" },
  // The watch over machines.
  crashed: { what: "Its machine ended too often in a row", from: notStopped, to: "error" },
  recovered: { what: "Its machine is healthy again", from: ["provisioning", "error"], to: "running" },
  imageMissing: { what: "Its image is got again", from: notStopped, to: "provisioning" },
  imageUnavailable: { what: "Its image can't be got, or does not start", from: notStopped, to: "error" },
  broughtBack: { what: "It runs with its image got again", from: notStopped, to: "running" }
} as const satisfies Readonly<Record<string, EventRule>>

export type ServerEvent = keyof typeof rules

/** Events of a machine, which apply only to the deployment generation that they were observed for. */
export type MachineEvent = Exclude<ServerEvent, `deployment${string}`>

/** Events of a server that sleeps, and of no other that is stopped. */
export const fromSleep: ReadonlyArray<ServerEvent> = ["woke", "wokeWithoutImage", "wakeGivenUp"]

export const events = Object.keys(rules) as ReadonlyArray<ServerEvent>

/** Whether an event applies to a server in that state. */
export const mayHappen = (event: ServerEvent, status: string) => rules[event].from.some((from) => from === status)
