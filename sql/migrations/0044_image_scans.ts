import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Scans of images for vulnerabilities, and what each found, the worst first by `position`
 * (docs/decisions/scanning.md). Deployments of one image, and rollbacks to them, share a scan.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE image_scans (
      id text PRIMARY KEY,
      image_digest text NOT NULL,
      scanner text NOT NULL,
      counts jsonb NOT NULL,
      scanned_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX ON image_scans (image_digest, scanned_at);
    CREATE TABLE image_vulnerabilities (
      scan_id text NOT NULL REFERENCES image_scans ON DELETE CASCADE,
      position integer NOT NULL,
      id text NOT NULL,
      aliases jsonb NOT NULL,
      package text NOT NULL,
      version text NOT NULL,
      fixed_version text,
      severity text NOT NULL,
      title text NOT NULL,
      url text,
      PRIMARY KEY (scan_id, position)
    );
    CREATE INDEX ON image_vulnerabilities (scan_id, severity, position);
    ALTER TABLE deployments ADD COLUMN scan_id text REFERENCES image_scans ON DELETE SET NULL;
    CREATE INDEX ON deployments (scan_id) WHERE scan_id IS NOT NULL;
  `))
