import { maybe } from "#src/shared/sql.ts"
import { computeSpent } from "#src/usage/compute-spent.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { RouteRow } from "./Route.ts"

export class RoutesRepo extends Effect.Service<RoutesRepo>()("gateway/RoutesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      find: maybe(RouteRow)((slug: string) =>
        sql`SELECT s.id AS server_id, s.slug, p.account_id, u.plan, s.auth_mode, s.byoa_config, s.status,
              (s.asleep_at IS NOT NULL OR coalesce(s.restarting_until > clock_timestamp(), false)) AS asleep,
              s.auto_stop_seconds, s.guest_requests_per_minute, s.guest_month_percent, s.wake_problem,
              ${computeSpent(sql, sql`p.account_id`)} AS compute_spent,
              greatest(0, coalesce(extract(epoch FROM s.wake_retry_at - clock_timestamp()), 0))::float8 AS wake_retry_seconds,
              s.active_deployment_id, d.port, s.replay_token,
              CASE WHEN d.id IS NULL THEN NULL
                ELSE json_build_object('version', d.version, 'run', greatest(1, d.starts)) END AS mark,
              (SELECT coalesce(json_agg(json_build_object('id', o.id, 'port', o.port,
                  'mark', json_build_object('version', o.version, 'run', greatest(1, o.starts)))), '[]')
                FROM deployments o WHERE o.server_id = s.id AND o.drains_until IS NOT NULL) AS draining
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
              LEFT JOIN deployments d ON d.id = s.active_deployment_id
            WHERE s.slug = ${slug}`
      )
    } as const
  })
}) {}
