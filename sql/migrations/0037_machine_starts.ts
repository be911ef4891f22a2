import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * How often the machine of a deployment was started: its sessions live in memory, and end with it
 * (docs/decisions/swap-and-drain.md). Gateways hear of each start of one that serves.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE deployments ADD COLUMN starts integer NOT NULL DEFAULT 1;
    ALTER TABLE deployments ALTER COLUMN starts SET DEFAULT 0;

    CREATE FUNCTION notify_machine_start() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('server_changed', id || ' ' || slug) FROM servers WHERE id = NEW.server_id;
        RETURN NULL;
      END $$;
    CREATE TRIGGER machine_started AFTER UPDATE OF starts ON deployments
      FOR EACH ROW WHEN (NEW.active) EXECUTE FUNCTION notify_machine_start();
  `))
