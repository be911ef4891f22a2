import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Gateways keep a server's route with its account's plan in memory: a changed plan counts at once, in each of them
 * (docs/decisions/smaller-plans.md). A trigger, because several rooms change plans.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE FUNCTION notify_plan_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('server_changed', s.id || ' ' || s.slug)
          FROM servers s JOIN projects p ON p.id = s.project_id WHERE p.account_id = NEW.id;
        RETURN NULL;
      END $$;
    CREATE TRIGGER plan_changed AFTER UPDATE OF plan ON users
      FOR EACH ROW WHEN (OLD.plan IS DISTINCT FROM NEW.plan) EXECUTE FUNCTION notify_plan_change();
  `))
