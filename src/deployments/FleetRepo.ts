import { ServerRow, ServerStatus } from "#src/servers/Server.ts"
import { anyRow, many, maybe } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { DeploymentId, DeploymentRow, DeploymentStatus, Stage } from "./Deployment.ts"
import { openStages } from "./transitions.ts"

const MachineRow = Schema.Struct({
  id: Schema.String,
  status: DeploymentStatus,
  stage: Stage,
  active: Schema.Boolean,
  drains: Schema.Boolean,
  superseded: Schema.Boolean,
  /** Stage of the active deployment: while it drains, only its pipeline may remove the machine that it replaced. */
  activeStage: Schema.NullOr(Stage)
})

const Serving = Schema.Struct({
  id: Schema.String,
  serverId: Schema.String,
  serverStatus: ServerStatus,
  /** Whether the server is stopped for idleness. */
  asleep: Schema.Boolean,
  /** Whether requests wait for it, since it is being started again. */
  held: Schema.Boolean,
  port: Schema.Int,
  healthPath: Schema.String,
  healthTimeoutSeconds: Schema.Int,
  /** Whether its server is in `error` although it serves, since a newer one failed whose machine is kept. */
  failedByDeployment: Schema.Boolean
})
export type Serving = typeof Serving.Type
const Open = Schema.Struct({ id: DeploymentId, serverId: Schema.String, stage: Stage })

/** Reads the desired state that machines are reconciled with. */
export class FleetRepo extends Effect.Service<FleetRepo>()("deployments/FleetRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const machines = many(MachineRow)((ids: ReadonlyArray<string>) =>
      sql`SELECT d.id, d.status, d.stage, d.active, coalesce(d.drains_until > now(), false) AS drains, a.stage AS active_stage,
              EXISTS (SELECT 1 FROM deployments n WHERE n.server_id = d.server_id AND n.version > d.version)
                AS superseded
            FROM deployments d LEFT JOIN deployments a ON a.server_id = d.server_id AND a.active
            WHERE ${sql.in("d.id", ids)}`
    )

    const serving = (condition: Statement.Fragment) =>
      sql`SELECT d.id, d.server_id, s.status AS server_status, s.asleep_at IS NOT NULL AS asleep,
              coalesce(s.restarting_until > clock_timestamp(), false) AS held,
              d.port, s.health_path, s.health_timeout_seconds, s.failed_by_deployment
            FROM deployments d
            JOIN servers s ON s.active_deployment_id = d.id WHERE d.active AND ${condition}`

    return {
      machines: (ids: ReadonlyArray<string>) => ids.length === 0 ? Effect.succeed([]) : machines(ids),
      /** Active deployments, of servers in any status. */
      serving: many(Serving)(() => serving(sql`true`))(),
      servingAt: maybe(Serving)((serverId: string) => serving(sql`s.id = ${serverId}`)),
      server: maybe(ServerRow)((id: string) => sql`SELECT * FROM servers WHERE id = ${id}`),
      isInFlight: (serverId: string) =>
        anyRow(sql`SELECT id FROM deployments WHERE server_id = ${serverId} AND status IN ('pending', 'building')`),
      servingOf: maybe(DeploymentRow)((serverId: string) =>
        sql`SELECT * FROM deployments WHERE server_id = ${serverId} AND active`
      ),
      /** Deployments whose pipeline has not ended. */
      open: many(Open)(() => sql`SELECT id, server_id, stage FROM deployments WHERE ${sql.in("stage", openStages)}`)()
    } as const
  })
}) {}
