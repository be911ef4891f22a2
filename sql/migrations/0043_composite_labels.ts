import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Queries for composites of so many members or more read an index of their own (group-sql.ts). */
const leastMembers = [1, 5]

/**
 * The members of composites by category and by tag, and what each composite comes to when only those with one of these
 * count (docs/decisions/composite-counts.md). `composite_labels` takes the place of `composite_categories` (0027).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    DROP TRIGGER categories_insert ON composite_entries;
    DROP TRIGGER categories_update ON composite_entries;
    DROP TRIGGER categories_delete ON composite_entries;
    DROP TRIGGER composite_recategorise ON listings;
    DROP FUNCTION composite_entries_follow, composite_recategorise, composite_categorise;
    DROP TABLE composite_categories;
    DROP INDEX listings_tags;

    -- A row for each category and each tag of a listing that may be a member.
    CREATE TABLE composite_labels (
      number integer NOT NULL,
      is_tag boolean NOT NULL,
      label text COLLATE "C" NOT NULL,
      group_number integer NOT NULL,
      trust smallint NOT NULL,
      weight smallint NOT NULL,
      health smallint NOT NULL,
      score smallint NOT NULL
    );
    -- What a composite comes to when only members with this label count, as of the last count.
    CREATE TABLE composite_label_groups (
      number integer NOT NULL,
      is_tag boolean NOT NULL,
      label text COLLATE "C" NOT NULL,
      n integer NOT NULL,
      trust smallint NOT NULL,
      health bigint NOT NULL,
      weight bigint NOT NULL,
      rank double precision NOT NULL,
      id text COLLATE "C" NOT NULL
    );
    -- How many of these have so many members and this trust.
    CREATE TABLE composite_label_totals (
      label text COLLATE "C" NOT NULL,
      is_tag boolean NOT NULL,
      n integer NOT NULL,
      trust smallint NOT NULL,
      groups integer NOT NULL,
      PRIMARY KEY (label, is_tag, n, trust)
    );
    CREATE INDEX composite_label_totals_none ON composite_label_totals (label) WHERE groups = 0;

    CREATE FUNCTION composite_label(numbers integer[]) RETURNS void LANGUAGE sql AS $$
      DELETE FROM composite_labels l USING composite_entries e
        WHERE e.number = ANY(numbers) AND (l.group_number, l.number) = (e.group_number, e.number);
      INSERT INTO composite_labels (number, is_tag, label, group_number, trust, weight, health, score)
        SELECT e.number, c.is_tag, c.label, e.group_number, e.trust, e.weight, e.health, e.score
        FROM composite_entries e JOIN listings l ON l.number = e.number, LATERAL (
          SELECT false AS is_tag, unnest(l.categories) AS label UNION SELECT true, unnest(l.tags)
        ) c WHERE e.number = ANY(numbers);
    $$;
    SELECT composite_label(array_agg(number)) FROM composite_entries;
    CREATE INDEX composite_labels_number ON composite_labels (group_number, number);
    CREATE INDEX composite_labels_label ON composite_labels (label, is_tag, group_number, number)
      INCLUDE (trust, weight, health, score);

    INSERT INTO composite_label_groups
      SELECT e.*, g.id FROM (
        SELECT group_number, is_tag, label, count(*), min(trust), sum(health), sum(weight),
          (min(trust) * sum(health) * sum(weight))::float8 / -(count(*) * count(*))
        FROM composite_labels GROUP BY 1, 2, 3
      ) e JOIN composite_groups g ON g.number = e.group_number WHERE g.is_composite;
    INSERT INTO composite_label_totals
      SELECT label, is_tag, n, trust, count(*) FROM composite_label_groups GROUP BY 1, 2, 3, 4;
    CREATE INDEX composite_label_groups_number ON composite_label_groups (number);
    ${
    leastMembers.map((n) =>
      `CREATE INDEX composite_label_groups_rank_of_${n} ON composite_label_groups (label, is_tag, rank, id)
        INCLUDE (n, trust, health, number) WHERE n >= ${n};`
    ).join("\n")
  }

    CREATE FUNCTION composite_labels_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        UPDATE composite_labels l SET trust = n.trust, weight = n.weight, health = n.health, score = n.score
          FROM now_there n WHERE (l.group_number, l.number) = (n.group_number, n.number);
      ELSIF TG_OP = 'INSERT' THEN
        PERFORM composite_label(array_agg(number)) FROM now_there;
      ELSE
        DELETE FROM composite_labels l USING was_there w
          WHERE (l.group_number, l.number) = (w.group_number, w.number);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER labels_insert AFTER INSERT ON composite_entries REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_labels_follow();
    CREATE TRIGGER labels_update AFTER UPDATE ON composite_entries REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_labels_follow();
    CREATE TRIGGER labels_delete AFTER DELETE ON composite_entries REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_labels_follow();

    CREATE FUNCTION composite_relabel() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched integer[];
    BEGIN
      SELECT array_agg(n.number) INTO touched FROM now_there n JOIN was_there w ON w.number = n.number
      WHERE (n.categories, n.tags) <> (w.categories, w.tags);
      IF touched IS NOT NULL THEN
        PERFORM composite_label(touched);
        INSERT INTO composite_marks SELECT DISTINCT group_number FROM composite_entries WHERE number = ANY(touched);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER composite_relabel AFTER UPDATE ON listings
      REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_relabel();
  `))
