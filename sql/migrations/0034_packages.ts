import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Deployments say how their program is run, and images that were made of a package keep what it was resolved to. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE deployments ADD COLUMN args jsonb, ADD COLUMN command text, ADD COLUMN transport text,
      ADD COLUMN processes text, ADD COLUMN package jsonb;

    CREATE TABLE package_images (
      digest text PRIMARY KEY,
      -- What it was made from: the lock, the runtime and the builder. The same inputs give the same image.
      inputs text NOT NULL,
      package jsonb NOT NULL,
      lock text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX package_images_inputs ON package_images (inputs);
  `))
