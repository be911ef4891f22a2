import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What the public directory searches: one narrow row for each listing that is shown, the words of their names, their
 * places, and counters of what is common. Triggers keep all of it in step with `listings`, in the same transaction.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    DO $$ BEGIN
      CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
      RAISE EXCEPTION 'the directory needs the PostgreSQL extension pg_trgm, which this server refused (%). Install it '
        'there (Debian: the package postgresql-contrib), run "CREATE EXTENSION pg_trgm" in this database as a '
        'superuser, and start again', SQLERRM;
    END $$;

    -- Words are split the same way whatever the database's locale: at ASCII punctuation and at spaces. Accents go.
    CREATE FUNCTION directory_words(name text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT left(word, 40) ORDER BY left(word, 40)), '{}')
      FROM regexp_split_to_table(
        lower(regexp_replace(normalize(name, NFKD), '[\\u0300-\\u036f''\\u2019.]', '', 'g')),
        '[\\u0001-/:-@\\[-\`{-~\\u00a0\\u2000-\\u206f\\u3000]+'
      ) AS word WHERE word <> ''
    $$;

    -- A word, and it without each one of its letters: words that one typo tells apart have one of these in common.
    CREATE FUNCTION directory_word_keys(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT CASE WHEN length(word) < 3 THEN ARRAY[word] ELSE
        (SELECT array_agg(DISTINCT left(word, i - 1) || substr(word, i + 1)) FROM generate_series(1, length(word)) i)
          || word END
    $$;

    CREATE TABLE directory_vocabulary (
      word text PRIMARY KEY,
      keys text[] NOT NULL GENERATED ALWAYS AS (directory_word_keys(word)) STORED
    );
    CREATE INDEX ON directory_vocabulary (word text_pattern_ops);
    CREATE INDEX ON directory_vocabulary USING gin (keys) WITH (fastupdate = off);
    CREATE INDEX ON directory_vocabulary USING gin (word gin_trgm_ops) WITH (fastupdate = off);

    -- Both in lower case.
    CREATE TABLE directory_places (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      city text NOT NULL,
      state text NOT NULL,
      UNIQUE (city, state)
    );
    CREATE INDEX ON directory_places USING gin (city gin_trgm_ops) WITH (fastupdate = off);
    CREATE TABLE directory_states (state text PRIMARY KEY);

    -- rank: the relevance score below zero, so that best first is ascending, like the id after it. cell: a square of a
    -- quarter degree; x, y, z: the place on a sphere of radius 1, where the straight distance is cheap.
    CREATE TABLE directory_entries (
      listing_id text PRIMARY KEY,
      rank integer NOT NULL,
      tier smallint NOT NULL,
      place_id integer NOT NULL,
      state text NOT NULL,
      cell integer,
      x double precision,
      y double precision,
      z double precision,
      template_type text NOT NULL,
      industry text NOT NULL,
      words text[] NOT NULL,
      categories text[] NOT NULL
    );
    CREATE INDEX directory_entries_rank ON directory_entries (rank, listing_id)
      INCLUDE (tier, place_id, state, template_type, industry);
    CREATE INDEX directory_entries_place ON directory_entries (place_id, rank, listing_id)
      INCLUDE (tier, template_type, industry);
    CREATE INDEX directory_entries_cell ON directory_entries (cell)
      INCLUDE (x, y, z, rank, listing_id, tier, place_id, template_type, industry) WHERE cell IS NOT NULL;
    CREATE INDEX ON directory_entries (state);
    CREATE INDEX ON directory_entries (template_type);
    CREATE INDEX ON directory_entries (industry);
    CREATE INDEX ON directory_entries USING gin (words) WITH (fastupdate = off);
    CREATE INDEX ON directory_entries USING gin (categories) WITH (fastupdate = off);
    CREATE INDEX listings_name_trigrams ON listings USING gin (name gin_trgm_ops) WHERE status = 'active';

    -- How many entries are alike, everywhere (state NULL) and by state; category '' stands for all of them. Changes are
    -- added as rows of their own, so that nobody waits for another's, and folded together now and then: the sum is exact
    -- at any time.
    CREATE TABLE directory_counts (
      category text NOT NULL,
      template_type text NOT NULL,
      industry text NOT NULL,
      tier smallint NOT NULL,
      state text,
      n integer NOT NULL,
      folded uuid
    );
    CREATE INDEX ON directory_counts (category, state);
    CREATE UNIQUE INDEX ON directory_counts (folded);
    CREATE INDEX ON directory_counts ((1)) WHERE folded IS NULL;

    CREATE FUNCTION directory_index(ids text[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      WITH gone AS (DELETE FROM directory_entries WHERE listing_id = ANY(ids) RETURNING *)
      INSERT INTO directory_counts (category, template_type, industry, tier, state, n)
        SELECT kind.category, e.template_type, e.industry, e.tier, area.state, -count(*)
        FROM gone e, unnest(ARRAY[''] || e.categories) AS kind(category),
          LATERAL (VALUES (NULL), (e.state)) AS area(state)
        GROUP BY 1, 2, 3, 4, 5;

      INSERT INTO directory_places (city, state)
        SELECT DISTINCT lower(l.city) AS city, lower(l.state) AS state FROM listings l
        WHERE l.id = ANY(ids) AND l.status = 'active' AND NOT EXISTS
          (SELECT FROM directory_places p WHERE p.city = lower(l.city) AND p.state = lower(l.state))
        ORDER BY 1, 2 ON CONFLICT DO NOTHING;

      INSERT INTO directory_states
        SELECT DISTINCT lower(l.state) AS state FROM listings l WHERE l.id = ANY(ids) AND l.status = 'active' AND
          NOT EXISTS (SELECT FROM directory_states s WHERE s.state = lower(l.state))
        ORDER BY 1 ON CONFLICT DO NOTHING;

      INSERT INTO directory_vocabulary (word)
        SELECT DISTINCT word FROM listings l, unnest(directory_words(l.name)) AS word
        WHERE l.id = ANY(ids) AND l.status = 'active' AND NOT EXISTS
          (SELECT FROM directory_vocabulary v WHERE v.word = word.word)
        ORDER BY 1 ON CONFLICT DO NOTHING;

      WITH fresh AS (
        INSERT INTO directory_entries
          SELECT l.id, -l.relevance_score, l.verification_tier, p.id, p.state,
            floor((l.latitude + 90) * 4)::int * 1440 + floor((l.longitude + 180) * 4)::int % 1440,
            cos(radians(l.latitude)) * cos(radians(l.longitude)),
            cos(radians(l.latitude)) * sin(radians(l.longitude)),
            sin(radians(l.latitude)),
            l.template_type, l.industry, directory_words(l.name), l.categories
          FROM listings l JOIN directory_places p ON p.city = lower(l.city) AND p.state = lower(l.state)
          WHERE l.id = ANY(ids) AND l.status = 'active'
        RETURNING *
      )
      INSERT INTO directory_counts (category, template_type, industry, tier, state, n)
        SELECT kind.category, e.template_type, e.industry, e.tier, area.state, count(*)
        FROM fresh e, unnest(ARRAY[''] || e.categories) AS kind(category),
          LATERAL (VALUES (NULL), (e.state)) AS area(state)
        GROUP BY 1, 2, 3, 4, 5;
    END $$;

    CREATE FUNCTION directory_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched text[];
    BEGIN
      IF TG_OP = 'INSERT' THEN
        SELECT array_agg(id) INTO touched FROM now_there WHERE status = 'active';
      ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(id) INTO touched FROM was_there WHERE status = 'active';
      ELSE
        SELECT array_agg(n.id) INTO touched FROM now_there n JOIN was_there w ON w.id = n.id
        WHERE 'active' IN (n.status, w.status) AND
          (n.status, n.name, n.categories, n.city, n.state, n.latitude, n.longitude, n.template_type, n.industry,
            n.verification_tier, n.relevance_score) IS DISTINCT FROM
          (w.status, w.name, w.categories, w.city, w.state, w.latitude, w.longitude, w.template_type, w.industry,
            w.verification_tier, w.relevance_score);
      END IF;
      IF touched IS NOT NULL THEN PERFORM directory_index(touched); END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER directory_insert AFTER INSERT ON listings REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION directory_follow();
    CREATE TRIGGER directory_update AFTER UPDATE ON listings REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION directory_follow();
    CREATE TRIGGER directory_delete AFTER DELETE ON listings REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION directory_follow();

    SELECT directory_index(array_agg(id)) FROM listings WHERE status = 'active';

    -- Days are UTC. The second table is what server metadata shows of a business.
    CREATE TABLE listing_events (
      listing_id text NOT NULL REFERENCES listings ON DELETE CASCADE,
      day date NOT NULL,
      kind text NOT NULL CHECK (kind IN ('view', 'search_impression', 'click', 'referral_click', 'transaction')),
      n bigint NOT NULL,
      PRIMARY KEY (listing_id, day, kind)
    );
    CREATE TABLE business_interactions (
      business_id text PRIMARY KEY REFERENCES businesses ON DELETE CASCADE,
      n bigint NOT NULL
    );
  `))
