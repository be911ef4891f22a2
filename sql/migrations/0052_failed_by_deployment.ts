import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Whether a server is in error since a deployment failed, and not since its machine did: only that one recovers. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE servers ADD COLUMN failed_by_deployment boolean NOT NULL DEFAULT false;
    UPDATE servers s SET failed_by_deployment = true WHERE s.status = 'error' AND EXISTS (
      SELECT 1 FROM deployments n JOIN deployments a ON a.id = s.active_deployment_id
      WHERE n.server_id = s.id AND n.version > a.version AND n.stage = 'kept');
  `))
