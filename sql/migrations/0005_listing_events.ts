import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What happens to listings, counted by UTC day, and by business for what server metadata shows. Without foreign keys,
 * whose locks would cross those of a business that is being deleted: what is gone is noted (directory_follow, migration
 * 0004) and forgotten by a job.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE listing_events (
      listing_id text NOT NULL,
      day date NOT NULL,
      kind text NOT NULL CHECK (kind IN ('view', 'search_impression', 'click', 'referral_click', 'transaction')),
      n bigint NOT NULL,
      PRIMARY KEY (listing_id, day, kind)
    );
    CREATE TABLE business_interactions (
      business_id text PRIMARY KEY,
      n bigint NOT NULL
    );
    CREATE TABLE directory_gone (listing_id text NOT NULL, business_id text NOT NULL);
  `))
