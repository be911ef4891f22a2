import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Until when each machine's running time is counted, by the database's clock: no moment of a machine counts twice,
 * whoever counts it (docs/decisions/machine-time.md). Machines that run during this migration were counted until now,
 * or ten seconds before.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE machine_metering (
      machine text PRIMARY KEY,
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      counted_until timestamptz NOT NULL
    );
    CREATE INDEX ON machine_metering (server_id);
    CREATE INDEX ON machine_metering (counted_until);
    INSERT INTO machine_metering (machine, server_id, counted_until)
      SELECT d.id, d.server_id, now() FROM deployments d WHERE d.active OR d.drains_until IS NOT NULL;
  `))
