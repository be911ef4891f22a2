import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Capability documents of listings: what was read from each, and where its bytes are. `capability_blobs` knows every
 * key that bytes were stored at, so that those without a document are found and removed.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE capability_blobs (
      key text PRIMARY KEY,
      -- Whose quota it counts in. It outlives the account, until its bytes are gone.
      account_id text,
      bytes integer NOT NULL DEFAULT 0,
      orphaned_at timestamptz
    );
    CREATE INDEX ON capability_blobs (account_id);

    CREATE TABLE capability_documents (
      listing_id text PRIMARY KEY REFERENCES listings ON DELETE CASCADE,
      blob_key text NOT NULL UNIQUE REFERENCES capability_blobs,
      format text NOT NULL CHECK (format IN ('skill_md', 'json')),
      -- SHA-256 of the bytes, in hex.
      digest text NOT NULL,
      name text NOT NULL,
      description text NOT NULL,
      tools jsonb NOT NULL,
      uploaded_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX ON capability_documents (format, listing_id);
  `))
