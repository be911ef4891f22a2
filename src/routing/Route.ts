import { type MachineAddress } from "#src/machines/Machines.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { ByoaConfig } from "#src/servers/ByoaConfig.ts"
import { type Form } from "#src/servers/locate.ts"
import { Schema } from "effect"

/** What the gateway needs to know of a server, as the database has it. */
export const RouteRow = Schema.Struct({
  serverId: Schema.String,
  slug: Schema.String,
  accountId: Schema.String,
  plan: PlanName,
  authMode: Schema.Literal("service_managed", "byoa"),
  byoaConfig: Schema.NullOr(ByoaConfig),
  status: Schema.String,
  activeDeploymentId: Schema.NullOr(Schema.String),
  /** Where the active deployment's machine listens inside. */
  port: Schema.NullOr(Schema.Int),
  /** What tells the machine that a request passed the gateway. */
  replayToken: Schema.String
})
export type RouteRow = typeof RouteRow.Type

export interface Route extends RouteRow {
  /** The two resource URLs of the server. */
  readonly resources: Readonly<Record<Form, string>>
  /** What its tokens are for, at whichever of the two they come: its canonical URL alone. */
  readonly audiences: readonly [string]
  /** The `Host` that its machine is sent. */
  readonly host: string
  /** Where its machine is reached; undefined when none runs. */
  readonly machine: MachineAddress | undefined
}
