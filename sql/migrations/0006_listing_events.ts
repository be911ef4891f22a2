import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What happens to listings goes without foreign keys, whose locks cross those of a business that is being deleted: what
 * is gone is noted (directory_follow, migration 0005) and forgotten by a job.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE listing_events DROP CONSTRAINT listing_events_listing_id_fkey;
    ALTER TABLE business_interactions DROP CONSTRAINT business_interactions_business_id_fkey;
    CREATE TABLE directory_gone (listing_id text NOT NULL, business_id text NOT NULL);
  `))
