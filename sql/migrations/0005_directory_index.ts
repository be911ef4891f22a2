import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What divides words: spaces, punctuation and symbols of ASCII, of Latin 1, the general and the CJK ones. */
const separators = "\\u0001-/:-@\\[-`{-~" +
  "\\u00a0-\\u00bf\\u00d7\\u00f7\\u2000-\\u206f\\u20a0-\\u20cf\\u2190-\\u2bff\\u3000-\\u3004\\u3008-\\u3020\\u3030\\u30fb"

/** A class of signs that are a syllable or a word. The program has the same: src/directory/spelling.ts. */
const denseScripts = "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ud7ff\uf900-\ufaff\u{20000}-\u{3ffff}]"

/**
 * What the public directory searches, made anew (migration 0004 had a first form of it): one narrow row for each listing
 * that is shown, the words of their names, their places, and counters of what is common. Triggers keep all of it in step
 * with `listings`, in the same transaction.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    DROP TABLE directory_entries, directory_vocabulary, directory_places, directory_states, directory_counts;
    DROP FUNCTION directory_follow CASCADE;
    DROP FUNCTION directory_index, directory_word_keys, directory_words;

    -- Words are divided the same way whatever the database's locale. Accents go; what is left is composed again, so that a
    -- syllable of Hangul is one letter.
    CREATE FUNCTION directory_words(name text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT left(word, 40) ORDER BY left(word, 40)), '{}')
      FROM regexp_split_to_table(
        lower(normalize(regexp_replace(normalize(name, NFKD), '[\\u0300-\\u036f''\\u2019.]', '', 'g'), NFC)),
        '[${separators}]+'
      ) AS word WHERE word <> ''
    $$;

    -- What a name is found by: its words, and where Hangul, kana or Han follow one another without spaces, each end of
    -- them, so that the beginning of one may be any part of the name.
    CREATE FUNCTION directory_name_words(name text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT part ORDER BY part), '{}')
      FROM unnest(directory_words(name)) AS word, LATERAL (
        SELECT word AS part UNION ALL
        SELECT substr(word, i) FROM generate_series(2, length(word)) i WHERE substr(word, i, 1) ~ '${denseScripts}'
      ) AS parts
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

    -- The letters of a text, and each two that are side by side: parts too short for trigrams, such as "il".
    CREATE FUNCTION directory_parts(text text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT substr(text, i, n)), '{}')
      FROM generate_series(1, length(text)) i, generate_series(1, 2) n
    $$;

    -- Both in lower case.
    CREATE TABLE directory_places (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      city text NOT NULL,
      state text NOT NULL,
      parts text[] NOT NULL GENERATED ALWAYS AS (directory_parts(city)) STORED,
      UNIQUE (city, state)
    );
    CREATE INDEX ON directory_places USING gin (parts) WITH (fastupdate = off);
    CREATE INDEX ON directory_places USING gin (city gin_trgm_ops) WITH (fastupdate = off);
    CREATE TABLE directory_states (state text PRIMARY KEY);

    -- 'c:' and a category; 'k:' and a template type or an industry. Never deleted: a program may remember the ids.
    CREATE TABLE directory_labels (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      label text NOT NULL UNIQUE
    );
    CREATE FUNCTION directory_label_names(l listings) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT array_agg('c:' || category) || ARRAY['k:' || l.template_type, 'k:' || l.industry]
      FROM unnest(l.categories) AS category
    $$;

    -- rank: the relevance score below zero, so that best first is ascending, like the id after it. cell: a square of a
    -- quarter degree; x, y, z: the place on a sphere of radius 1, where the straight distance is cheap. labels are small
    -- enough to lie in each index, which then answers alone.
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
      word_count integer NOT NULL,
      categories text[] NOT NULL,
      labels integer[] NOT NULL
    );
    CREATE INDEX directory_entries_rank ON directory_entries (rank, listing_id)
      INCLUDE (tier, place_id, state, labels);
    CREATE INDEX directory_entries_place ON directory_entries (place_id, rank, listing_id) INCLUDE (tier, labels);
    CREATE INDEX directory_entries_cell ON directory_entries (cell)
      INCLUDE (x, y, z, rank, listing_id, tier, place_id, state, labels) WHERE cell IS NOT NULL;
    CREATE INDEX ON directory_entries (state);
    CREATE INDEX ON directory_entries USING gin (words) WITH (fastupdate = off);
    CREATE INDEX ON directory_entries USING gin (labels) WITH (fastupdate = off);

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
    CREATE INDEX ON directory_counts (category, state) INCLUDE (tier, n);
    CREATE UNIQUE INDEX ON directory_counts (folded);
    CREATE INDEX ON directory_counts ((1)) WHERE folded IS NULL;
    CREATE INDEX ON directory_counts ((0)) WHERE n = 0;

    -- The same by label and place; label 0 stands for all of them.
    CREATE TABLE directory_place_counts (
      label_id integer NOT NULL,
      place_id integer NOT NULL,
      tier smallint NOT NULL,
      n integer NOT NULL,
      is_folded boolean NOT NULL DEFAULT false
    );
    CREATE INDEX ON directory_place_counts (label_id, place_id, tier) INCLUDE (n);
    CREATE UNIQUE INDEX ON directory_place_counts (label_id, place_id, tier) WHERE is_folded;
    CREATE INDEX ON directory_place_counts ((1)) WHERE NOT is_folded;
    CREATE INDEX ON directory_place_counts ((0)) WHERE n = 0;

    -- And of words: a word whose last listing has gone stays in the vocabulary, and counts for nothing.
    CREATE TABLE directory_word_counts (
      word text NOT NULL,
      n integer NOT NULL,
      is_folded boolean NOT NULL DEFAULT false
    );
    CREATE INDEX ON directory_word_counts (word) INCLUDE (n);
    CREATE UNIQUE INDEX ON directory_word_counts (word) WHERE is_folded;
    CREATE INDEX ON directory_word_counts ((1)) WHERE NOT is_folded;
    CREATE INDEX ON directory_word_counts ((0)) WHERE n = 0;

    CREATE FUNCTION directory_index(ids text[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE gone directory_entries[];
    BEGIN
      WITH taken AS (DELETE FROM directory_entries WHERE listing_id = ANY(ids) RETURNING *)
      SELECT array_agg(ROW(t.*)::directory_entries) INTO gone FROM taken t;

      INSERT INTO directory_places (city, state)
        SELECT DISTINCT lower(l.city) AS city, lower(l.state) AS state FROM listings l
        WHERE l.id = ANY(ids) AND l.status = 'active' AND NOT EXISTS
          (SELECT FROM directory_places p WHERE p.city = lower(l.city) AND p.state = lower(l.state))
        ORDER BY 1, 2 ON CONFLICT DO NOTHING;

      INSERT INTO directory_states
        SELECT DISTINCT lower(l.state) AS state FROM listings l WHERE l.id = ANY(ids) AND l.status = 'active' AND
          NOT EXISTS (SELECT FROM directory_states s WHERE s.state = lower(l.state))
        ORDER BY 1 ON CONFLICT DO NOTHING;

      INSERT INTO directory_labels (label)
        SELECT DISTINCT label FROM listings l, unnest(directory_label_names(l)) AS label
        WHERE l.id = ANY(ids) AND l.status = 'active' AND NOT EXISTS
          (SELECT FROM directory_labels d WHERE d.label = label.label)
        ORDER BY 1 ON CONFLICT DO NOTHING;

      INSERT INTO directory_vocabulary (word)
        SELECT DISTINCT word FROM listings l, unnest(directory_name_words(l.name)) AS word
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
            l.template_type, l.industry, directory_name_words(l.name), cardinality(directory_words(l.name)), l.categories,
            ARRAY(SELECT d.id FROM directory_labels d WHERE d.label = ANY(directory_label_names(l)))
          FROM listings l JOIN directory_places p ON p.city = lower(l.city) AND p.state = lower(l.state)
          WHERE l.id = ANY(ids) AND l.status = 'active'
        RETURNING *
      ), changed AS (
        SELECT 1 AS n, f.* FROM fresh f UNION ALL SELECT -1, g.* FROM unnest(gone) g
      ), placed AS (
        INSERT INTO directory_place_counts (label_id, place_id, tier, n)
          SELECT label, c.place_id, c.tier, sum(c.n) FROM changed c, unnest(0 || c.labels) AS label
          GROUP BY 1, 2, 3 HAVING sum(c.n) <> 0
      ), worded AS (
        INSERT INTO directory_word_counts (word, n)
          SELECT word, sum(c.n) FROM changed c, unnest(c.words) AS word GROUP BY 1 HAVING sum(c.n) <> 0
      )
      INSERT INTO directory_counts (category, template_type, industry, tier, state, n)
        SELECT kind.category, c.template_type, c.industry, c.tier, area.state, sum(c.n)
        FROM changed c, unnest(ARRAY[''] || c.categories) AS kind(category),
          LATERAL (VALUES (NULL), (c.state)) AS area(state)
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(c.n) <> 0;
    END $$;

    CREATE FUNCTION directory_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched text[];
    BEGIN
      IF TG_OP = 'INSERT' THEN
        SELECT array_agg(id) INTO touched FROM now_there WHERE status = 'active';
      ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(id) INTO touched FROM was_there WHERE status = 'active';
        INSERT INTO directory_gone (listing_id, business_id) SELECT id, business_id FROM was_there;
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
  `))
