import { type MachineAddress } from "#src/machines/Machines.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { ByoaConfig } from "#src/servers/ByoaConfig.ts"
import { type Form } from "#src/servers/locate.ts"
import { Schema } from "effect"

/** What the gateway needs of a server, as stored. */
export const RouteRow = Schema.Struct({
  serverId: Schema.String,
  slug: Schema.String,
  accountId: Schema.String,
  plan: PlanName,
  authMode: Schema.Literal("service_managed", "byoa"),
  byoaConfig: Schema.NullOr(ByoaConfig),
  status: Schema.String,
  activeDeploymentId: Schema.NullOr(Schema.String),
  /** The port on which the active deployment's machine listens inside. */
  port: Schema.NullOr(Schema.Int),
  /** Proves to the machine that a request passed the gateway. */
  replayToken: Schema.String
})
export type RouteRow = typeof RouteRow.Type

export interface Route extends RouteRow {
  /** The two resource URLs of the server. */
  readonly resources: Readonly<Record<Form, string>>
  /** The audience of its tokens, for requests to either URL: its canonical URL alone. */
  readonly audiences: readonly [string]
  /** The `Host` header sent to its machine. */
  readonly host: string
  /** Address of its machine; undefined when none runs. */
  readonly machine: MachineAddress | undefined
}
