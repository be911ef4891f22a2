import { many, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type Found } from "./handshake/handshake.ts"
import { McpReport, McpSummary } from "./McpReport.ts"

const SummaryRow = Schema.Struct({ deploymentId: Schema.String, ...McpSummary.fields })

/** Results of the MCP handshake, one a deployment. */
export class HandshakesRepo extends Effect.Service<HandshakesRepo>()("deployments/HandshakesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const summaries = many(SummaryRow)((deploymentIds: ReadonlyArray<string>) =>
      sql`SELECT deployment_id, ok, transport, revision, tool_count, problem FROM deployment_handshakes
          WHERE ${sql.in("deployment_id", deploymentIds)}`
    )
    return {
      /** A repeated stage replaces the result. A deployment that was deleted meanwhile has none. */
      save: (deploymentId: string, { features, ok, problem, revision, toolCount, tools, transport }: Found) =>
        run(sql`INSERT INTO deployment_handshakes
            (deployment_id, ok, transport, revision, tool_count, tools, features, problem)
          SELECT id, ${ok}, ${transport}, ${revision}, ${toolCount}, ${JSON.stringify(tools)}::jsonb,
            ${JSON.stringify(features)}::jsonb, ${problem}
          FROM deployments WHERE id = ${deploymentId} FOR KEY SHARE
          ON CONFLICT (deployment_id) DO UPDATE SET ok = excluded.ok, transport = excluded.transport,
            revision = excluded.revision, tool_count = excluded.tool_count, tools = excluded.tools, features = excluded.features,
            problem = excluded.problem, tried_at = now()`),
      find: maybe(McpReport)((deploymentId: string) =>
        sql`SELECT ok, transport, revision, tool_count, tools, problem FROM deployment_handshakes
            WHERE deployment_id = ${deploymentId}`
      ),
      /** Without the tools, by the deployment's id. */
      summaries: (deploymentIds: ReadonlyArray<string>) =>
        deploymentIds.length === 0 ? Effect.succeed(new Map<string, McpSummary>()) : Effect.map(
          summaries(deploymentIds),
          (rows) => new Map(rows.map(({ deploymentId, ...summary }) => [deploymentId, summary as McpSummary]))
        )
    } as const
  })
}) {}
