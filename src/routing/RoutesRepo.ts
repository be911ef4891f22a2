import { maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { RouteRow } from "./Route.ts"

export class RoutesRepo extends Effect.Service<RoutesRepo>()("gateway/RoutesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      find: maybe(RouteRow)((slug: string) =>
        sql`SELECT s.id AS server_id, s.slug, p.account_id, u.plan, s.auth_mode, s.byoa_config, s.status,
              s.active_deployment_id, d.port, s.replay_token
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
              LEFT JOIN deployments d ON d.id = s.active_deployment_id
            WHERE s.slug = ${slug}`
      )
    } as const
  })
}) {}
