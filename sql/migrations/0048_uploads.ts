import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What was pushed to `/v2`: blobs of a project, manifests and tags of its repositories, and uploads that have not ended
 * (docs/decisions/uploads.md). `held_blobs`: which account has shown that it has a blob's bytes.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE uploaded_blobs (
      project_id text NOT NULL REFERENCES projects ON DELETE CASCADE,
      digest text NOT NULL,
      size bigint NOT NULL,
      asked_at timestamptz,
      uploaded_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, digest)
    );
    CREATE TABLE uploaded_manifests (
      project_id text NOT NULL REFERENCES projects ON DELETE CASCADE,
      repository text NOT NULL,
      digest text NOT NULL,
      media_type text NOT NULL,
      size bigint NOT NULL,
      pushed_at timestamptz NOT NULL DEFAULT now(),
      untagged_at timestamptz,
      PRIMARY KEY (project_id, repository, digest)
    );
    CREATE TABLE uploaded_references (
      project_id text NOT NULL,
      repository text NOT NULL,
      manifest text NOT NULL,
      digest text NOT NULL,
      PRIMARY KEY (project_id, repository, manifest, digest),
      FOREIGN KEY (project_id, repository, manifest) REFERENCES uploaded_manifests ON DELETE CASCADE
    );
    CREATE INDEX ON uploaded_references (project_id, digest);
    CREATE TABLE uploaded_tags (
      project_id text NOT NULL,
      repository text NOT NULL,
      tag text NOT NULL,
      digest text NOT NULL,
      pushed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, repository, tag),
      FOREIGN KEY (project_id, repository, digest) REFERENCES uploaded_manifests ON DELETE CASCADE
    );
    CREATE INDEX ON uploaded_tags (project_id, repository, digest);
    CREATE TABLE unfinished_uploads (
      id text PRIMARY KEY,
      project_id text NOT NULL REFERENCES projects ON DELETE CASCADE,
      repository text NOT NULL,
      reserved bigint NOT NULL DEFAULT 0,
      written_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX ON unfinished_uploads (project_id);
    CREATE TABLE held_blobs (
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      digest text NOT NULL,
      PRIMARY KEY (account_id, digest)
    );
    CREATE INDEX ON held_blobs (digest);
  `))
