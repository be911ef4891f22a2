import { type Package } from "#src/packages/Package.ts"
import { PlanName, plans } from "#src/plans/Plan.ts"
import { ServerNotFound, ServerRow } from "#src/servers/Server.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { Count, dieOnSql, many, maybe, one, onUnique, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { DeploymentInProgress, DeploymentRow } from "./Deployment.ts"
import { rules, sourcesOf, type Stage } from "./transitions.ts"

const NewDeployment = DeploymentRow.pick(
  "id",
  "serverId",
  "type",
  "imageUri",
  "imageDigest",
  "rollbackOf",
  "scanResult",
  "scanId",
  "args",
  "command",
  "transport",
  "processes",
  "packageScripts",
  "node",
  "freshDependencies",
  "package"
)
const Version = Schema.Struct({
  version: Schema.Int,
  ran: Schema.Boolean,
  active: Schema.Boolean,
  keptByPlan: Schema.Int
})
const ServedPackage = Schema.Struct({ digest: Schema.String, imageUri: Schema.String, version: Schema.String })
const OwnerRow = Schema.Struct({ ...ServerRow.fields, accountId: Schema.String, plan: PlanName })
const caps = PlanName.literals.map((plan) => ({ plan, kept: plans[plan].deploymentsKept }))
const json = (value: unknown) => value === null ? null : JSON.stringify(value)
interface Scan {
  readonly id: string
  readonly counts: { readonly critical: number; readonly high: number; readonly medium: number }
}
const maxInteger = 2_147_483_647

/** Rows of deployments, for callers and for the pipeline. */
export class DeploymentsRepo extends Effect.Service<DeploymentsRepo>()("deployments/DeploymentsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const states = yield* ServerStates

    const lockServer = maybe(ServerRow)((id: string) => sql`SELECT * FROM servers WHERE id = ${id} FOR UPDATE`)
    const findVersion = maybe(DeploymentRow)((serverId: string, version: number) =>
      sql`SELECT * FROM deployments WHERE server_id = ${serverId} AND version = ${version}`
    )
    const insert = SqlSchema.single({
      Request: NewDeployment,
      Result: DeploymentRow,
      execute: (row) =>
        sql`INSERT INTO deployments (id, server_id, type, image_uri, image_digest, rollback_of, scan_result, scan_id,
              args, command, transport, processes, package_scripts, node,
              fresh_dependencies, package, version)
            SELECT ${row.id}, ${row.serverId}, ${row.type}, ${row.imageUri}, ${row.imageDigest}, ${row.rollbackOf},
              ${json(row.scanResult)}::jsonb, ${row.scanId}, ${json(row.args)}::jsonb, ${row.command}, ${row.transport},
              ${row.processes}, ${row.packageScripts}, ${row.node}, ${row.freshDependencies}, ${
          json(row.package)
        }::jsonb, coalesce(max(version), 0) + 1
            FROM deployments WHERE server_id = ${row.serverId} RETURNING *`
    })

    /** Notes with all of a server's versions what the plan keeps, so that they stay when it is left. */
    const keepByPlan = (serverId: string) =>
      sql`UPDATE deployments d SET kept_by_plan = caps.kept
          FROM json_to_recordset(${JSON.stringify(caps)}::json) AS caps(plan text, kept integer)
          JOIN users u ON u.plan = caps.plan JOIN projects p ON p.account_id = u.id
          JOIN servers s ON s.project_id = p.id
          WHERE s.id = ${serverId} AND d.server_id = s.id AND d.kept_by_plan < caps.kept`

    const begin = Effect.fnUntraced(function*(row: typeof NewDeployment.Type) {
      if (Option.isNone(yield* lockServer(row.serverId))) return yield* new ServerNotFound()
      const created = yield* insert(row)
      yield* keepByPlan(row.serverId)
      yield* states.deploymentBegun(row.serverId)
      return created
    })

    return {
      /** The server with its account and plan. Doesn't authorize. */
      server: maybe(OwnerRow)((id: string) =>
        sql`SELECT s.*, p.account_id, u.plan FROM servers s JOIN projects p ON p.id = s.project_id
            JOIN users u ON u.id = p.account_id WHERE s.id = ${id}`
      ),
      /**
       * Allocates the next version. The server's row stays locked until commit, which serialises concurrent calls.
       * `noted` is committed with it.
       */
      begin: (row: typeof NewDeployment.Type, noted: Effect.Effect<void> = Effect.void) =>
        sql.withTransaction(Effect.zipLeft(begin(row), noted)).pipe(
          onUnique("deployments_in_flight", () => new DeploymentInProgress()),
          dieOnSql
        ),
      find: maybe(DeploymentRow)((id: string) => sql`SELECT * FROM deployments WHERE id = ${id}`),
      findVersion: (serverId: string, version: number) =>
        version > maxInteger ? Effect.succeedNone : findVersion(serverId, version),
      /** The newest deployment of each version of each package that served on a server, the newest first. */
      servedPackages: many(ServedPackage)((serverId: string) =>
        sql`SELECT image_digest AS digest, image_uri, version FROM (
              SELECT DISTINCT ON (package->>'name', package->>'version', image_uri) image_digest, image_uri,
                package->>'version' AS version, deployments.version AS number
              FROM deployments
              WHERE server_id = ${serverId} AND deployed_at IS NOT NULL AND package IS NOT NULL
              ORDER BY package->>'name', package->>'version', image_uri, deployments.version DESC
            ) served ORDER BY number DESC LIMIT 100`
      ),
      page: many(DeploymentRow)((serverId: string, before: number | undefined, count: number) =>
        sql`SELECT * FROM deployments WHERE server_id = ${serverId}
            ${before === undefined ? sql`` : sql`AND version < ${before}`} ORDER BY version DESC LIMIT ${count}`
      ),
      total: one(Count)((serverId: string) =>
        sql`SELECT count(*)::int AS count FROM deployments WHERE server_id = ${serverId}`
      ),
      versions: many(Version)((serverId: string) =>
        sql`SELECT version, active, deployed_at IS NOT NULL AS ran, kept_by_plan FROM deployments
          WHERE server_id = ${serverId}`
      ),
      /** Sets the stage and returns the record; none when it was deleted or has ended meanwhile. */
      enter: maybe(DeploymentRow)((id: string, stage: Stage) =>
        sql`UPDATE deployments SET stage = ${stage}, note = NULL, status = CASE WHEN status = 'rolled_back' THEN status ELSE ${
          rules[stage].status
        } END
            WHERE id = ${id} AND ${sql.in("stage", sourcesOf(stage))} RETURNING *`
      ),
      /** What its stage waits for, for those who watch. */
      note: (id: string, note: string) => run(sql`UPDATE deployments SET note = ${note} WHERE id = ${id}`),
      admitted: (id: string, by: "health" | "mcp") =>
        run(sql`UPDATE deployments SET admitted_by = ${by} WHERE id = ${id}`),
      /** The machine was started; gateways hear of it. */
      started: (id: string) => run(sql`UPDATE deployments SET starts = starts + 1 WHERE id = ${id}`),
      /** What the scanner found. Its counts are the contract's, which has no others. */
      setScan: (id: string, { counts: { critical, high, medium }, id: scanId }: Scan) =>
        run(
          sql`UPDATE deployments SET scan_id = ${scanId}, scan_result = ${json({ critical, high, medium })}::jsonb
              WHERE id = ${id}`
        ),
      setDigest: (id: string, digest: string, of: Package | null = null) =>
        run(sql`UPDATE deployments SET image_digest = ${digest}, package = ${json(of)}::jsonb WHERE id = ${id}`)
    } as const
  })
}) {}
