import { type MachineAddress } from "#src/machines/Machines.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { ByoaConfig } from "#src/servers/ByoaConfig.ts"
import { type Form } from "#src/servers/locate.ts"
import { ComputeSpent } from "#src/usage/compute-spent.ts"
import { Schema } from "effect"

/** A deployment's machine: the version of the server that it runs, and how often it was started, from 1. */
export const Mark = Schema.Struct({ version: Schema.Int, run: Schema.Int })
export type Mark = typeof Mark.Type

/** A deployment that was replaced, while its machine stays for what is open there. */
const DrainingRow = Schema.Struct({ id: Schema.String, mark: Mark, port: Schema.Int })

/** What the gateway needs of a server, as stored. */
export const RouteRow = Schema.Struct({
  serverId: Schema.String,
  slug: Schema.String,
  accountId: Schema.String,
  plan: PlanName,
  authMode: Schema.Literal("service_managed", "byoa"),
  byoaConfig: Schema.NullOr(ByoaConfig),
  status: Schema.String,
  /** Whether requests wait for it: it is stopped for idleness, and the next one wakes it, or it is being restarted. */
  asleep: Schema.Boolean,
  autoStopSeconds: Schema.NullOr(Schema.Int),
  /** Null while its account's plan allows more machine time. */
  computeSpent: ComputeSpent,
  /** What each caller who is not the owner may use of it (docs/decisions/guests.md). */
  guestRequestsPerMinute: Schema.NullOr(Schema.Int),
  guestMonthPercent: Schema.Int,
  /** Why it could not be woken the last time, and in how many seconds that is tried again; 0: now. */
  wakeProblem: Schema.NullOr(Schema.String),
  wakeRetrySeconds: Schema.Number,
  activeDeploymentId: Schema.NullOr(Schema.String),
  /** The port on which the active deployment's machine listens inside. */
  port: Schema.NullOr(Schema.Int),
  /** The active deployment's machine. */
  mark: Schema.NullOr(Mark),
  draining: Schema.Array(DrainingRow),
  /** Proves to the machine that a request passed the gateway. */
  replayToken: Schema.String
})
export type RouteRow = typeof RouteRow.Type

/** A machine that drains, as the gateway reaches it. */
export interface DrainingMachine {
  readonly deploymentId: string
  readonly mark: Mark
  readonly host: string
  readonly machine: MachineAddress
}

export interface Route extends Omit<RouteRow, "draining"> {
  /** The two resource URLs of the server. */
  readonly resources: Readonly<Record<Form, string>>
  /** The audience of its tokens, for requests to either URL: its canonical URL alone. */
  readonly audiences: readonly [string]
  /** The `Host` header sent to its machine. */
  readonly host: string
  /** Address of its machine; undefined when none runs. */
  readonly machine: MachineAddress | undefined
  /** Machines of replaced deployments that still run, for sessions that they opened. */
  readonly draining: ReadonlyArray<DrainingMachine>
}

/** Whether its owner stopped it: its machine may be there still, and ends. */
export const isOff = ({ asleep, status }: Pick<Route, "asleep" | "status">) => status === "stopped" && !asleep

/** Whether nobody waits for it: its machine hangs and is about to be ended, or has ended several times in a row. */
export const isPausing = (
  { asleep, status, wakeRetrySeconds }: Pick<Route, "asleep" | "status" | "wakeRetrySeconds">
) => !asleep && status === "running" && wakeRetrySeconds > 0
