import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What a name in another script sounds like in Latin letters, by which its listing is found too
 * (docs/decisions/search-rule.md). Triggers write the names, a job how they sound.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE romanised_names (
      listing_id text PRIMARY KEY REFERENCES listings ON DELETE CASCADE,
      name text NOT NULL,
      romanised text
    );
    CREATE INDEX romanised_names_waiting ON romanised_names (listing_id) WHERE romanised IS NULL;

    -- Beyond Latin letters, their marks and the general punctuation.
    CREATE FUNCTION has_other_letters(name text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT name ~ '[\\u0370-\\u1dff\\u2c00-\\ud7ff\\uf900-\\uffdc]'
    $$;

    CREATE FUNCTION romanised_names_wait() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO romanised_names (listing_id, name) VALUES (NEW.id, NEW.name)
        ON CONFLICT (listing_id) DO UPDATE SET name = excluded.name, romanised = NULL
        WHERE romanised_names.name <> excluded.name;
      RETURN NULL;
    END $$;
    CREATE TRIGGER romanised_names AFTER INSERT OR UPDATE OF name ON listings
      FOR EACH ROW WHEN (has_other_letters(NEW.name)) EXECUTE FUNCTION romanised_names_wait();

    -- Of the name that it has now.
    CREATE FUNCTION romanised_name(l listings) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT r.romanised FROM romanised_names r WHERE r.listing_id = l.id AND r.name = l.name
    $$;

    CREATE OR REPLACE FUNCTION directory_found_by(l listings) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT directory_with_forms(directory_name_words(concat_ws(' ', l.name, romanised_name(l), l.city,
        directory_state_forms(l.state), array_to_string(l.categories, ' '), array_to_string(l.tags, ' '))))
    $$;

    CREATE OR REPLACE FUNCTION catalog_own_lexemes(l listings) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT catalog_lexemes(concat_ws(' ', l.name, romanised_name(l), l.city, directory_state_forms(l.state),
        array_to_string(l.categories, ' '), array_to_string(l.tags, ' ')))
    $$;

    CREATE FUNCTION romanised_names_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched text[];
    BEGIN
      SELECT array_agg(l.id) INTO touched FROM now_there n JOIN listings l ON l.id = n.listing_id
        WHERE n.romanised IS NOT NULL AND l.status = 'active';
      IF touched IS NOT NULL THEN
        PERFORM directory_index(touched);
        INSERT INTO catalog_marks SELECT l.number FROM listings l WHERE l.id = ANY(touched) AND
          EXISTS (SELECT FROM catalog_items i WHERE i.business_id = l.business_id);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER romanised_names_follow AFTER UPDATE ON romanised_names REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION romanised_names_follow();

    INSERT INTO romanised_names (listing_id, name) SELECT id, name FROM listings WHERE has_other_letters(name);
  `))
