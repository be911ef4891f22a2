import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Which host serves the installation, for as long as its lease runs; and the keys that stored secrets are sealed with, so
 * that a wrong `SECRET_KEY` is noticed at the start. A sealed value is `v1.{key id}.{…}.{…}`.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- One process that serves: what tells it from others, and (key_ids, the one that seals first) what it can open.
    CREATE TABLE hosts (
      id text PRIMARY KEY,
      session text NOT NULL,
      host_name text NOT NULL,
      pid integer NOT NULL,
      process_start text NOT NULL,
      boot_id text NOT NULL,
      pid_namespace text NOT NULL,
      key_ids text[] NOT NULL,
      started_at timestamptz NOT NULL,
      lease_until timestamptz NOT NULL
    );

    -- proof: a known text under the key, which shows that a key of that id is the very one; null until one is at hand.
    CREATE TABLE secret_keys (
      key_id text PRIMARY KEY,
      proof text,
      added_at timestamptz NOT NULL DEFAULT now()
    );
    INSERT INTO secret_keys (key_id)
      SELECT DISTINCT split_part(sealed, '.', 2) FROM (
        SELECT sealed_integrations FROM businesses UNION ALL
        SELECT sealed_value FROM environment_variables UNION ALL
        SELECT sealed_response FROM idempotency_keys UNION ALL
        SELECT sealed_private_jwk FROM signing_keys
      ) AS stored(sealed) WHERE sealed IS NOT NULL;
  `))
