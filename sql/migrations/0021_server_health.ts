import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * How servers answered their health probes (docs/decisions/health-score.md), a row a server. A deployment of before had
 * passed its checks, and begins like a new one.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE server_health (
      server_id text PRIMARY KEY REFERENCES servers ON DELETE CASCADE,
      -- The health path that the serving deployment was checked by.
      path text NOT NULL,
      -- [good, probes] of each of the last running hours, the oldest first.
      hours jsonb NOT NULL DEFAULT '[]',
      -- How much of the last of these hours has passed.
      hour_seconds integer NOT NULL DEFAULT 0,
      score smallint NOT NULL DEFAULT 0 CHECK (score BETWEEN 0 AND 100),
      probed_at timestamptz,
      failed_at timestamptz,
      failure text
    ) WITH (fillfactor = 80);

    INSERT INTO server_health (server_id, path, hours, score)
      SELECT id, health_path, '[[1, 1]]', 100 FROM servers WHERE active_deployment_id IS NOT NULL;
  `))
