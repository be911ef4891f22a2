import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

const numbers =
  ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
    "seventeen eighteen nineteen twenty").split(" ").map((word, i) => [word, String(i)])
const abbreviations = [
  ["saint", "st"],
  ["street", "st"],
  ["doctor", "dr"],
  ["mount", "mt"],
  ["fort", "ft"],
  ["avenue", "ave"],
  ["brothers", "bros"]
]
/** What divides words: spaces, punctuation and symbols of ASCII, of Latin 1, the general and the CJK ones. */
const separators =
  `'[\\u0001-/:-@\\[-\`{-~\\u00a0-\\u00bf\\u00d7\\u00f7\\u2000-\\u206f\\u20a0-\\u20cf\\u2190-\\u2bff\\u3000-\\u3004\\u3008-\\u3020\\u3030\\u30fb]+'`

/** States, provinces and territories with their abbreviations. */
const states = ("alabama=al, alaska=ak, arizona=az, arkansas=ar, california=ca, colorado=co, connecticut=ct, " +
  "delaware=de, district of columbia=dc, florida=fl, georgia=ga, hawaii=hi, idaho=id, illinois=il, " +
  "indiana=in, iowa=ia, kansas=ks, kentucky=ky, louisiana=la, maine=me, maryland=md, massachusetts=ma, " +
  "michigan=mi, minnesota=mn, mississippi=ms, missouri=mo, montana=mt, nebraska=ne, nevada=nv, " +
  "new hampshire=nh, new jersey=nj, new mexico=nm, new york=ny, north carolina=nc, north dakota=nd, " +
  "ohio=oh, oklahoma=ok, oregon=or, pennsylvania=pa, rhode island=ri, south carolina=sc, " +
  "south dakota=sd, tennessee=tn, texas=tx, utah=ut, vermont=vt, virginia=va, washington=wa, " +
  "west virginia=wv, wisconsin=wi, wyoming=wy")
  .split(", ").map((pair) => pair.split("="))
  .map(([name, short]) => `('${name}', '${short}')`).join(", ")
const forms = [...numbers, ...abbreviations].map(([long, short]) => `('${long}', '${short}')`).join(", ")

/**
 * What a listing is found by is more than its name: its city, its state, its categories and tags. Words have other forms
 * (7 and seven, St and Saint), `&` is `and`, and letters that Unicode does not decompose are written in ASCII.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE FUNCTION directory_folded(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT replace(replace(replace(replace(translate(
        lower(normalize(regexp_replace(
          normalize(replace(name, '&', ' and '), NFKD), '[\\u0300-\\u036f''\\u2019.]', '', 'g'
        ), NFC)),
        'øłđðı', 'olddi'), 'œ', 'oe'), 'æ', 'ae'), 'ß', 'ss'), 'þ', 'th')
    $$;

    CREATE OR REPLACE FUNCTION directory_words(name text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT left(word, 40) ORDER BY left(word, 40)), '{}')
      FROM regexp_split_to_table(
        directory_folded(name),
        ${separators}
      ) AS word WHERE word <> ''
    $$;

    CREATE FUNCTION directory_with_forms(words text[]) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT form ORDER BY form), '{}')
      FROM unnest(words) AS word, LATERAL (
        SELECT word AS form UNION ALL
        SELECT CASE word WHEN f.long THEN f.short ELSE f.long END FROM (VALUES ${forms}) AS f (long, short)
        WHERE word IN (f.long, f.short)
      ) AS all_forms
    $$;

    -- TX and Texas.
    CREATE FUNCTION directory_state_forms(state text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(
        (SELECT concat(f.name, ' ', f.short) FROM (VALUES ${states}) AS f (name, short)
          WHERE lower(trim(state)) IN (f.name, f.short) LIMIT 1),
        state
      )
    $$;

    -- St. Louis and Saint Louis, Ft. Worth and Fort Worth, Zürich and Zurich.
    CREATE FUNCTION directory_place_name(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        directory_folded(name), ${separators}, ' ', 'g'), '\\msaint\\M', 'st', 'g'), '\\mfort\\M', 'ft', 'g'),
        '\\mmount\\M', 'mt', 'g'))
    $$;
    ALTER TABLE directory_places ADD folded text NOT NULL GENERATED ALWAYS AS (directory_place_name(city)) STORED;
    CREATE INDEX ON directory_places USING gin (folded gin_trgm_ops) WITH (fastupdate = off);

    CREATE FUNCTION directory_found_by(l listings) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT directory_with_forms(directory_name_words(
        concat_ws(' ', l.name, l.city, directory_state_forms(l.state), array_to_string(l.categories, ' '), array_to_string(l.tags, ' '))
      ))
    $$;

    -- What orders listings of the same rank: 4 bytes, where an id has 26.
    ALTER TABLE listings ADD number integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY;

    TRUNCATE directory_entries, directory_counts, directory_place_counts, directory_word_counts, directory_vocabulary;
    ALTER TABLE directory_vocabulary ADD id integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY;

    -- terms: the ids of the words of its name, and below zero those of the others that it is found by.
    ALTER TABLE directory_entries
      ADD number integer NOT NULL, ADD terms integer[] NOT NULL, ADD zip text NOT NULL, DROP words;
    DROP INDEX directory_entries_rank, directory_entries_place, directory_entries_cell, directory_entries_state_idx;
    CREATE UNIQUE INDEX directory_entries_number ON directory_entries (number)
      INCLUDE (tier, place_id, state, labels, x, y, z);
    DROP INDEX directory_word_counts_word_n_idx;
    CREATE INDEX directory_word_counts_word ON directory_word_counts (word text_pattern_ops) INCLUDE (n);
    CREATE INDEX directory_entries_zip ON directory_entries (zip) WHERE zip <> '';
    CREATE INDEX directory_entries_state ON directory_entries (state) INCLUDE (number, rank, tier, place_id, labels);
    CREATE INDEX directory_entries_rank ON directory_entries (rank, number) INCLUDE (tier, place_id, state, labels);
    CREATE INDEX directory_entries_place ON directory_entries (place_id, rank, number) INCLUDE (tier, labels);
    CREATE INDEX directory_entries_cell ON directory_entries (cell)
      INCLUDE (x, y, z, rank, number, tier, place_id, state, labels) WHERE cell IS NOT NULL;

    -- A row for each term of an entry. The order of its key is the order of a search for one word.
    CREATE TABLE directory_postings (
      term integer NOT NULL,
      word_count integer NOT NULL,
      rank integer NOT NULL,
      number integer NOT NULL,
      PRIMARY KEY (term, word_count, rank, number)
    );

    -- The ids of words; below zero those that are not in the name.
    CREATE FUNCTION directory_terms(in_name text[], found_by text[]) RETURNS integer[] LANGUAGE sql STABLE AS $$
      SELECT coalesce(array_agg(CASE WHEN v.word = ANY(in_name) THEN v.id ELSE -v.id END ORDER BY v.id), '{}')
      FROM directory_vocabulary v WHERE v.word = ANY(in_name || found_by)
    $$;

    CREATE OR REPLACE FUNCTION directory_index(ids text[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE gone directory_entries[];
    BEGIN
      WITH taken AS (DELETE FROM directory_entries WHERE listing_id = ANY(ids) RETURNING *)
      SELECT array_agg(ROW(t.*)::directory_entries) INTO gone FROM taken t;
      DELETE FROM directory_postings p USING unnest(gone) g, unnest(g.terms) AS t(term)
        WHERE (p.term, p.word_count, p.rank, p.number) = (t.term, g.word_count, g.rank, g.number);

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
        SELECT DISTINCT word FROM listings l, unnest(directory_found_by(l)) AS word
        WHERE l.id = ANY(ids) AND l.status = 'active' AND NOT EXISTS
          (SELECT FROM directory_vocabulary v WHERE v.word = word.word)
        ORDER BY 1 ON CONFLICT DO NOTHING;

      WITH fresh AS (
        INSERT INTO directory_entries (listing_id, rank, tier, place_id, state, cell, x, y, z, template_type, industry,
            word_count, categories, labels, number, terms, zip)
          SELECT l.id, -l.relevance_score, l.verification_tier, p.id, p.state,
            floor((l.latitude + 90) * 4)::int * 1440 + floor((l.longitude + 180) * 4)::int % 1440,
            cos(radians(l.latitude)) * cos(radians(l.longitude)),
            cos(radians(l.latitude)) * sin(radians(l.longitude)),
            sin(radians(l.latitude)),
            l.template_type, l.industry, cardinality(directory_words(l.name)), l.categories,
            ARRAY(SELECT d.id FROM directory_labels d WHERE d.label = ANY(directory_label_names(l))),
            l.number, directory_terms(directory_with_forms(directory_name_words(l.name)), directory_found_by(l)), l.zip
          FROM listings l JOIN directory_places p ON p.city = lower(l.city) AND p.state = lower(l.state)
          WHERE l.id = ANY(ids) AND l.status = 'active'
        RETURNING *
      ), changed AS (
        SELECT 1 AS n, f.* FROM fresh f UNION ALL SELECT -1, g.* FROM unnest(gone) g
      ), posted AS (
        INSERT INTO directory_postings
          SELECT term, f.word_count, f.rank, f.number FROM fresh f, unnest(f.terms) AS term ORDER BY 1, 2, 3, 4
      ), placed AS (
        INSERT INTO directory_place_counts (label_id, place_id, tier, n)
          SELECT label, c.place_id, c.tier, sum(c.n) FROM changed c, unnest(0 || c.labels) AS label
          GROUP BY 1, 2, 3 HAVING sum(c.n) <> 0
      ), worded AS (
        INSERT INTO directory_word_counts (word, n)
          -- Of words, and of their beginnings of up to three letters, which end in an asterisk.
          SELECT counted.word, sum(n) FROM (
            SELECT DISTINCT c.number, c.n, counted.word
            FROM changed c, unnest(c.terms) AS term JOIN directory_vocabulary v ON v.id = abs(term), LATERAL (
              SELECT v.word UNION ALL
              SELECT left(v.word, length) || '*' FROM generate_series(1, least(3, length(v.word))) AS length
            ) AS counted
          ) counted GROUP BY 1 HAVING sum(n) <> 0
      )
      INSERT INTO directory_counts (category, template_type, industry, tier, state, n)
        SELECT kind.category, c.template_type, c.industry, c.tier, area.state, sum(c.n)
        FROM changed c, unnest(ARRAY[''] || c.categories) AS kind(category),
          LATERAL (VALUES (NULL), (c.state)) AS area(state)
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(c.n) <> 0;
    END $$;

    CREATE OR REPLACE FUNCTION directory_follow() RETURNS trigger LANGUAGE plpgsql AS $$
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
          (n.status, n.name, n.categories, n.tags, n.city, n.state, n.zip, n.latitude, n.longitude, n.template_type, n.industry,
            n.verification_tier, n.relevance_score) IS DISTINCT FROM
          (w.status, w.name, w.categories, w.tags, w.city, w.state, w.zip, w.latitude, w.longitude, w.template_type, w.industry,
            w.verification_tier, w.relevance_score);
      END IF;
      IF touched IS NOT NULL THEN PERFORM directory_index(touched); END IF;
      RETURN NULL;
    END $$;
    SELECT directory_index(array_agg(id)) FROM listings WHERE status = 'active';
  `))
