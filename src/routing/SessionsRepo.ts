import { many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** How many sessions of a deployment's machine were opened and closed since they were written last. */
export interface SessionCounts {
  readonly deploymentId: string
  readonly opened: number
  readonly closed: number
}

const Open = Schema.Struct({ deploymentId: Schema.String, open: Schema.NumberFromString })

export class SessionsRepo extends Effect.Service<SessionsRepo>()("routing/SessionsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const open = many(Open)((ids: ReadonlyArray<string>) =>
      sql`SELECT deployment_id, opened - closed AS open FROM mcp_sessions WHERE ${sql.in("deployment_id", ids)}`
    )

    return {
      /** In the order of their ids, so that two gateways never wait for each other. Skips deployments that are gone. */
      add: (counts: ReadonlyArray<SessionCounts>) =>
        run(sql`INSERT INTO mcp_sessions (deployment_id, opened, closed)
            SELECT c.deployment_id, c.opened, c.closed
            FROM json_to_recordset(${
          JSON.stringify(
            counts.map(({ closed, deploymentId, opened }) => ({ deployment_id: deploymentId, opened, closed }))
          )
        }::json) AS c(deployment_id text, opened bigint, closed bigint)
            WHERE EXISTS (SELECT FROM deployments d WHERE d.id = c.deployment_id) ORDER BY 1
            ON CONFLICT (deployment_id) DO UPDATE SET opened = mcp_sessions.opened + excluded.opened,
              closed = mcp_sessions.closed + excluded.closed`),
      open: (ids: ReadonlyArray<string>) => ids.length === 0 ? Effect.succeed([]) : open(ids)
    } as const
  })
}) {}
