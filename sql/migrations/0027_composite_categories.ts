import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * The members of composites by category, in the order in which they are grouped (docs/decisions/composite-counts.md):
 * `composite_entries` again, a row for each category of a listing. Follows it and the listing in the same transaction.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE composite_categories (
      number integer NOT NULL,
      category text COLLATE "C" NOT NULL,
      group_number integer NOT NULL,
      trust smallint NOT NULL,
      weight smallint NOT NULL,
      health smallint NOT NULL,
      score smallint NOT NULL
    );

    CREATE FUNCTION composite_categorise(numbers integer[]) RETURNS void LANGUAGE sql AS $$
      DELETE FROM composite_categories WHERE number = ANY(numbers);
      INSERT INTO composite_categories (number, category, group_number, trust, weight, health, score)
        SELECT e.number, c.category, e.group_number, e.trust, e.weight, e.health, e.score
        FROM composite_entries e JOIN listings l ON l.number = e.number,
          LATERAL (SELECT DISTINCT category FROM unnest(l.categories) AS category) c
        WHERE e.number = ANY(numbers);
    $$;
    SELECT composite_categorise(array_agg(number)) FROM composite_entries;
    CREATE INDEX composite_categories_number ON composite_categories (number);
    CREATE INDEX composite_categories_category ON composite_categories (category, group_number, number)
      INCLUDE (trust, weight, health, score);

    CREATE FUNCTION composite_entries_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        UPDATE composite_categories c SET trust = n.trust, weight = n.weight, health = n.health, score = n.score
          FROM now_there n WHERE c.number = n.number;
      ELSIF TG_OP = 'INSERT' THEN
        PERFORM composite_categorise(array_agg(number)) FROM now_there;
      ELSE
        DELETE FROM composite_categories WHERE number = ANY(ARRAY(SELECT number FROM was_there));
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER categories_insert AFTER INSERT ON composite_entries REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_entries_follow();
    CREATE TRIGGER categories_update AFTER UPDATE ON composite_entries REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_entries_follow();
    CREATE TRIGGER categories_delete AFTER DELETE ON composite_entries REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_entries_follow();

    CREATE FUNCTION composite_recategorise() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched integer[];
    BEGIN
      SELECT array_agg(n.number) INTO touched FROM now_there n JOIN was_there w ON w.number = n.number
      WHERE n.categories <> w.categories;
      IF touched IS NOT NULL THEN PERFORM composite_categorise(touched); END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER composite_recategorise AFTER UPDATE ON listings
      REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_recategorise();
  `))
