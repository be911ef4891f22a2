import { ServerRow, ServerStatus } from "#src/servers/Server.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { DeploymentId, DeploymentRow, DeploymentStatus, Stage } from "./Deployment.ts"
import { openStages } from "./transitions.ts"

const MachineRow = Schema.Struct({
  id: Schema.String,
  status: DeploymentStatus,
  stage: Stage,
  active: Schema.Boolean,
  followed: Schema.Boolean,
  /** Stage of the deployment that serves: while it drains, the machine it replaced is not for others to take. */
  activeStage: Schema.NullOr(Stage)
})

const Serving = Schema.Struct({
  id: Schema.String,
  serverId: Schema.String,
  serverStatus: ServerStatus,
  /** Whether nothing was deployed since, also nothing that failed. */
  latest: Schema.Boolean
})
const Open = Schema.Struct({ id: DeploymentId, serverId: Schema.String, stage: Stage })

/** What should run, and what may not: the records that machines are held against. */
export class FleetRepo extends Effect.Service<FleetRepo>()("deployments/FleetRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const machines = SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: MachineRow,
      execute: (ids) =>
        sql`SELECT d.id, d.status, d.stage, d.active, a.stage AS active_stage,
              EXISTS (SELECT 1 FROM deployments n WHERE n.server_id = d.server_id AND n.version > d.version) AS followed
            FROM deployments d LEFT JOIN deployments a ON a.server_id = d.server_id AND a.active
            WHERE ${sql.in("d.id", ids)}`
    })
    const serving = SqlSchema.findAll({
      Request: Schema.Void,
      Result: Serving,
      execute: () =>
        sql`SELECT d.id, d.server_id, s.status AS server_status, NOT EXISTS (
              SELECT 1 FROM deployments n WHERE n.server_id = d.server_id AND n.version > d.version) AS latest
            FROM deployments d
            JOIN servers s ON s.active_deployment_id = d.id WHERE d.active`
    })
    const servingOne = SqlSchema.findOne({
      Request: Schema.String,
      Result: DeploymentRow,
      execute: (serverId) => sql`SELECT * FROM deployments WHERE server_id = ${serverId} AND active`
    })
    const server = SqlSchema.findOne({
      Request: Schema.String,
      Result: ServerRow,
      execute: (id) => sql`SELECT * FROM servers WHERE id = ${id}`
    })
    const inFlight = SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ id: Schema.String }),
      execute: (serverId) =>
        sql`SELECT id FROM deployments WHERE server_id = ${serverId} AND status IN ('pending', 'building')`
    })
    const open = SqlSchema.findAll({
      Request: Schema.Void,
      Result: Open,
      execute: () => sql`SELECT id, server_id, stage FROM deployments WHERE ${sql.in("stage", openStages)}`
    })

    return {
      machines: (ids: ReadonlyArray<string>) => ids.length === 0 ? Effect.succeed([]) : dieOnSql(machines(ids)),
      /** Deployments that serve, of servers in any status. */
      serving: dieOnSql(serving()),
      server: (id: string) => dieOnSql(server(id)),
      isInFlight: (serverId: string) => dieOnSql(Effect.map(inFlight(serverId), (rows) => rows.length > 0)),
      servingOf: (serverId: string) => dieOnSql(servingOne(serverId)),
      /** Deployments whose pipeline has not come to its end. */
      open: dieOnSql(open())
    } as const
  })
}) {}
