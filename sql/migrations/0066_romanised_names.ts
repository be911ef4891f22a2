import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What a name in another script sounds like in Latin letters, by which it is found too (docs/decisions/search-rule.md).
 * A job fills it in; `romanised_of` is the name that it was made of.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE listings ADD romanised text NOT NULL DEFAULT '', ADD romanised_of text NOT NULL DEFAULT '';

    -- Beyond Latin letters, their marks and the general punctuation.
    CREATE FUNCTION has_other_letters(name text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT name ~ '[\\u0370-\\u1dff\\u2c00-\\ud7ff\\uf900-\\uffdc]'
    $$;
    CREATE INDEX listings_to_romanise ON listings (id) WHERE name <> romanised_of AND has_other_letters(name);

    CREATE OR REPLACE FUNCTION directory_found_by(l listings) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT directory_with_forms(directory_name_words(concat_ws(' ', l.name, l.romanised, l.city,
        directory_state_forms(l.state), array_to_string(l.categories, ' '), array_to_string(l.tags, ' '))))
    $$;

    CREATE OR REPLACE FUNCTION catalog_own_lexemes(l listings) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT catalog_lexemes(concat_ws(' ', l.name, l.romanised, l.city, directory_state_forms(l.state),
        array_to_string(l.categories, ' '), array_to_string(l.tags, ' ')))
    $$;

    CREATE FUNCTION romanised_names_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched text[];
    BEGIN
      SELECT array_agg(n.id) INTO touched FROM now_there n JOIN was_there w ON w.id = n.id
        WHERE n.status = 'active' AND n.romanised <> w.romanised;
      IF touched IS NOT NULL THEN
        PERFORM directory_index(touched);
        INSERT INTO catalog_marks SELECT l.number FROM listings l WHERE l.id = ANY(touched) AND
          EXISTS (SELECT FROM catalog_items i WHERE i.business_id = l.business_id);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER romanised_names AFTER UPDATE ON listings REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION romanised_names_follow();
  `))
