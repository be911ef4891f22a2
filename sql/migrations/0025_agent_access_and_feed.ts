import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Whether agents find a listing without a login, and what changed since an agent asked last: one row for each listing
 * that was ever shown to agents, with the transaction of its last change (docs/decisions/business-feed.md).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE listings ADD agent_access boolean NOT NULL DEFAULT true;

    -- removed_at: since when agents no longer see it. slug outlives the listing.
    CREATE TABLE feed_changes (
      listing_id text PRIMARY KEY,
      slug text NOT NULL,
      xid xid8 NOT NULL,
      removed_at timestamptz
    );
    CREATE INDEX ON feed_changes (xid, listing_id);
    CREATE INDEX ON feed_changes (removed_at) WHERE removed_at IS NOT NULL;

    -- One row. cluster: whose transactions the numbers are; forgotten: the last one of which a removal is forgotten.
    CREATE TABLE feed_state (
      id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
      cluster text NOT NULL,
      forgotten xid8 NOT NULL DEFAULT '0'
    );

    CREATE FUNCTION feed_mark(ids text[]) RETURNS void LANGUAGE sql AS $$
      INSERT INTO feed_changes AS f (listing_id, slug, xid, removed_at)
        SELECT l.id, l.business_slug, pg_current_xact_id(),
          CASE WHEN l.status = 'active' AND l.agent_access THEN NULL ELSE now() END
        FROM listings l WHERE l.id = ANY(ids) ORDER BY l.id
      ON CONFLICT (listing_id) DO UPDATE SET xid = excluded.xid, removed_at = excluded.removed_at
    $$;

    CREATE FUNCTION feed_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched text[];
    BEGIN
      IF TG_OP = 'INSERT' THEN
        SELECT array_agg(id) INTO touched FROM now_there WHERE status = 'active' AND agent_access;
      ELSIF TG_OP = 'DELETE' THEN
        UPDATE feed_changes f SET xid = pg_current_xact_id(), removed_at = now()
          FROM was_there w WHERE w.id = f.listing_id AND w.status = 'active' AND w.agent_access;
      ELSE
        -- What only ranks a listing (its scores) is not in the feed.
        SELECT array_agg(n.id) INTO touched FROM now_there n JOIN was_there w ON w.id = n.id
        WHERE (n.status = 'active' AND n.agent_access OR w.status = 'active' AND w.agent_access) AND
          (n.status, n.agent_access, n.updated_at, n.name, n.description, n.categories, n.tags) IS DISTINCT FROM
          (w.status, w.agent_access, w.updated_at, w.name, w.description, w.categories, w.tags);
      END IF;
      IF touched IS NOT NULL THEN PERFORM feed_mark(touched); END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER feed_insert AFTER INSERT ON listings REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION feed_follow();
    CREATE TRIGGER feed_update AFTER UPDATE ON listings REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION feed_follow();
    CREATE TRIGGER feed_delete AFTER DELETE ON listings REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION feed_follow();

    -- Every other change of a business changes its listing too; that its server was deleted does not.
    CREATE FUNCTION feed_follow_server() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM feed_mark(array_agg(l.id)) FROM listings l
        WHERE l.business_id = NEW.id AND l.status = 'active' AND l.agent_access HAVING count(*) > 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER feed_server AFTER UPDATE OF server_id ON businesses FOR EACH ROW
      WHEN (OLD.server_id IS DISTINCT FROM NEW.server_id) EXECUTE FUNCTION feed_follow_server();

    INSERT INTO feed_changes (listing_id, slug, xid)
      SELECT id, business_slug, pg_current_xact_id() FROM listings WHERE status = 'active';
  `))
