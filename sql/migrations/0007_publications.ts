import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What a publication has still to do once its business exists: the row comes in the transaction that makes the business
 * and goes in the one that ends the publication, so that one which was cut off in between is found and carried on.
 * `server_id` has no foreign key: a row is reached through its listing alone, and the locks of deletions never cross.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE publications (
      listing_id text PRIMARY KEY REFERENCES listings ON DELETE CASCADE,
      server_id text NOT NULL,
      image_uri text NOT NULL,
      -- Whether the listing is to be shown; null once somebody has decided that by themselves.
      visible boolean,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE FUNCTION publication_decided() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE publications SET visible = NULL WHERE listing_id = NEW.id;
      RETURN NULL;
    END $$;
    -- Also when the status stays what it was: to hide a listing that waits to be shown is a decision.
    CREATE TRIGGER publication_decided AFTER UPDATE OF status ON listings
      FOR EACH ROW EXECUTE FUNCTION publication_decided();
  `))
