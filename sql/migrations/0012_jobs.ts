import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** When each periodic job ran last, and when one that runs once across all hosts is due (docs/decisions/jobs.md). */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE jobs (
      name text NOT NULL,
      -- The host's id; empty for a job that runs once across all hosts.
      host text NOT NULL,
      -- Null: it runs when it is asked to.
      interval_millis integer,
      last_run_at timestamptz,
      took_millis integer,
      -- When it last began a run that failed, and why that failed.
      failed_at timestamptz,
      failure text,
      -- Of a job that runs once across all hosts; null until one of them took it.
      due_at timestamptz,
      written_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (name, host)
    );
  `))
