import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Businesses are found by the words of what they offer (docs/decisions/catalog-words.md). What was there before is marked,
 * and indexed by the job that follows changes.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- Pizzas and pizza are one word, and "with" is none.
    CREATE FUNCTION catalog_lexemes(words text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT coalesce(array_agg(DISTINCT left(word, 40)), '{}') FROM unnest(tsvector_to_array(
        to_tsvector('pg_catalog.english', translate(directory_folded(words), '-/_', '   '))
      )) AS word
    $$;
    CREATE FUNCTION catalog_item_lexemes(name text, category text, description text)
      RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT catalog_lexemes(concat_ws(' ', name, category, left(description, 200)))
    $$;
    CREATE FUNCTION catalog_own_lexemes(l listings) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT catalog_lexemes(concat_ws(' ', l.name, l.city, directory_state_forms(l.state),
        array_to_string(l.categories, ' '), array_to_string(l.tags, ' ')))
    $$;
    -- Which of 63 bits stands for an item: of its id, which ends at random.
    CREATE FUNCTION catalog_bit(id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT 1::bigint << ((ascii(right(id, 1)) * 37 + ascii(right(id, 2))) % 63)
    $$;

    -- The words of shown listings that offer something. items: the bits of the items with the word; is_own: the listing's
    -- name, place, categories or tags have it. rank: the verification tier, below zero so that the best is first.
    CREATE TABLE catalog_words (
      word text COLLATE "C" NOT NULL,
      rank smallint NOT NULL,
      number integer NOT NULL,
      items bigint NOT NULL,
      is_own boolean NOT NULL
    );
    CREATE UNIQUE INDEX catalog_words_word ON catalog_words (word, rank, number) INCLUDE (items, is_own);
    CREATE INDEX catalog_words_number ON catalog_words (number);

    -- Numbers of listings whose words may have changed; written in the transaction of the change.
    CREATE TABLE catalog_marks (number integer NOT NULL);

    -- Indexes so many marked listings anew; answers how many marks it took. One at a time.
    CREATE FUNCTION catalog_fold(most integer) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE taken integer[];
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('catalog_marks'));
      WITH gone AS (
        DELETE FROM catalog_marks WHERE ctid = ANY(ARRAY(SELECT ctid FROM catalog_marks LIMIT most)) RETURNING number
      )
      SELECT array_agg(number) INTO taken FROM gone;
      IF taken IS NULL THEN RETURN 0; END IF;

      DELETE FROM catalog_words WHERE number = ANY(taken);
      INSERT INTO catalog_words (word, rank, number, items, is_own)
        WITH offered AS MATERIALIZED (
          SELECT l.number, catalog_bit(i.id) AS bit, catalog_item_lexemes(i.name, c.name, i.description) AS words
          FROM listings l JOIN catalog_items i ON i.business_id = l.business_id AND i.is_available
          LEFT JOIN catalog_categories c ON c.id = i.category_id
          WHERE l.number = ANY(taken) AND l.status = 'active'
        ), words AS (
          SELECT o.number, word, o.bit, false AS is_own FROM offered o, unnest(o.words) AS word
          UNION ALL
          SELECT l.number, word, 0, true FROM listings l, unnest(catalog_own_lexemes(l)) AS word
          WHERE l.number IN (SELECT number FROM offered)
        )
        SELECT w.word, -l.verification_tier, w.number, bit_or(w.bit), bool_or(w.is_own)
        FROM words w JOIN listings l ON l.number = w.number GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
      RETURN cardinality(taken);
    END $$;

    CREATE FUNCTION catalog_items_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO catalog_marks SELECT l.number FROM listings l
          WHERE l.business_id IN (SELECT business_id FROM now_there) AND l.status = 'active';
      ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO catalog_marks SELECT l.number FROM listings l
          WHERE l.business_id IN (SELECT business_id FROM was_there) AND l.status = 'active';
      ELSE
        INSERT INTO catalog_marks SELECT l.number FROM listings l
          WHERE l.status = 'active' AND l.business_id IN (
            SELECT n.business_id FROM now_there n JOIN was_there w ON w.id = n.id
            WHERE (n.name, n.description, n.category_id, n.is_available) IS DISTINCT FROM
              (w.name, w.description, w.category_id, w.is_available)
          );
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER catalog_insert AFTER INSERT ON catalog_items REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_items_follow();
    CREATE TRIGGER catalog_update AFTER UPDATE ON catalog_items REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_items_follow();
    CREATE TRIGGER catalog_delete AFTER DELETE ON catalog_items REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_items_follow();

    -- A category that is deleted takes itself from its items, which is a change of them.
    CREATE FUNCTION catalog_categories_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO catalog_marks SELECT l.number FROM listings l
        WHERE l.status = 'active' AND l.business_id IN (
          SELECT n.business_id FROM now_there n JOIN was_there w ON w.id = n.id WHERE n.name <> w.name
        );
      RETURN NULL;
    END $$;
    CREATE TRIGGER catalog_rename AFTER UPDATE ON catalog_categories
      REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_categories_follow();

    CREATE FUNCTION catalog_listings_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO catalog_marks SELECT n.number FROM now_there n WHERE n.status = 'active' AND
          EXISTS (SELECT FROM catalog_items i WHERE i.business_id = n.business_id);
      ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO catalog_marks SELECT number FROM was_there WHERE status = 'active';
      ELSE
        INSERT INTO catalog_marks SELECT n.number FROM now_there n JOIN was_there w ON w.number = n.number
          WHERE 'active' IN (n.status, w.status) AND
            (n.status, n.name, n.categories, n.tags, n.city, n.state, n.verification_tier) IS DISTINCT FROM
            (w.status, w.name, w.categories, w.tags, w.city, w.state, w.verification_tier);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER catalog_listing_insert AFTER INSERT ON listings REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_listings_follow();
    CREATE TRIGGER catalog_listing_update AFTER UPDATE ON listings REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_listings_follow();
    CREATE TRIGGER catalog_listing_delete AFTER DELETE ON listings REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION catalog_listings_follow();

    INSERT INTO catalog_marks SELECT l.number FROM listings l WHERE l.status = 'active' AND
      EXISTS (SELECT FROM catalog_items i WHERE i.business_id = l.business_id);
  `))
