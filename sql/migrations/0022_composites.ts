import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** A query for composites of some size reads an index of those of at least the next lower of these (group-sql.ts). */
const leastMembers = [1, 2, 3, 5, 10, 20, 50]
const leastMembersOfSteps = [1, 2, 5, 20]

/**
 * Composites: queries for listings that were given a name. Their members are found anew on each read
 * (docs/decisions/composite-counts.md).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE composites (
      id text COLLATE "C" PRIMARY KEY,
      created_by text NOT NULL CHECK (created_by IN ('system', 'agent', 'user')),
      user_id text REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      slug text NOT NULL,
      description text NOT NULL DEFAULT '',
      visibility text NOT NULL CHECK (visibility IN ('public', 'private')),
      query_definition jsonb NOT NULL,
      expires_at timestamptz,
      promoted_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((created_by = 'system') = (user_id IS NULL))
    );
    CREATE INDEX ON composites (user_id, id);

    -- What is compared of a vertical or a city: without case, accents and punctuation. nail_salon is Nail Salon.
    CREATE FUNCTION composite_key(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT directory_place_name(name)
    $$;
    -- TX for Texas; a state elsewhere as it is.
    CREATE FUNCTION composite_state(state text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT CASE WHEN forms = state THEN directory_place_name(state) ELSE right(forms, 2) END
      FROM directory_state_forms(state) AS forms
    $$;
    -- The first 128 bits of the SHA-256 of the name, written as a ULID: two zero bits, then groups of five.
    CREATE FUNCTION composite_id(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT string_agg(
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + substring(bits FROM i * 5 + 1 FOR 5)::bit(5)::integer, 1), '' ORDER BY i
      )
      FROM generate_series(0, 25) AS i, LATERAL (
        SELECT B'00' || ('x' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 32))::bit(128) AS bits
      ) AS hashed
    $$;

    -- A vertical in a city, with the sums of its eligible listings (n and so on) and of those of verification tier 2 or
    -- more (verified_n and so on). rank: trust x mean health x mean weight, below zero so that the best is first. Never
    -- deleted: entries have its number. Exact but for groups with a mark.
    CREATE TABLE composite_groups (
      number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text COLLATE "C" NOT NULL UNIQUE,
      vertical text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL,
      city text COLLATE "C" NOT NULL,
      -- custom is the industry of a business that told none.
      is_composite boolean NOT NULL GENERATED ALWAYS AS (vertical NOT IN ('', 'custom') AND city <> '') STORED,
      n integer NOT NULL DEFAULT 0,
      trust smallint NOT NULL DEFAULT 0,
      health bigint NOT NULL DEFAULT 0,
      weight bigint NOT NULL DEFAULT 0,
      rank double precision NOT NULL DEFAULT 0,
      verified_n integer NOT NULL DEFAULT 0,
      verified_trust smallint NOT NULL DEFAULT 0,
      verified_health bigint NOT NULL DEFAULT 0,
      UNIQUE (vertical, state, city)
    );
    ${
    leastMembers.map((n) =>
      `CREATE INDEX composite_groups_rank_of_${n} ON composite_groups (rank, id) INCLUDE (n, trust, health, number)
        WHERE n >= ${n} AND is_composite;`
    ).join("\n")
  }
    CREATE INDEX composite_groups_vertical ON composite_groups (vertical, rank, id)
      INCLUDE (state, n, trust, health, number) WHERE n >= 1 AND is_composite;
    CREATE INDEX composite_groups_state ON composite_groups (state, rank, id)
      INCLUDE (vertical, n, trust, health, number) WHERE n >= 1 AND is_composite;
    CREATE INDEX composite_groups_city ON composite_groups (city, state) INCLUDE (vertical, n, number);
    CREATE INDEX composite_groups_others ON composite_groups (number) WHERE NOT is_composite;
    CREATE INDEX composite_groups_verified ON composite_groups (verified_n DESC, id) WHERE verified_n >= 3 AND is_composite;

    -- How many composites have so many members and this trust.
    CREATE TABLE composite_totals (
      n integer NOT NULL,
      trust smallint NOT NULL,
      groups integer NOT NULL,
      PRIMARY KEY (n, trust)
    );

    -- What a composite comes to when only members of a health of health_min or more count, which is the same for every least
    -- health above below: a row for each score that its members have. Among all of them (of_weight 0), and among those of
    -- each listing tier. A filter by health or listing tier reads these as other queries read composite_groups.
    CREATE TABLE composite_steps (
      number integer NOT NULL,
      of_weight smallint NOT NULL,
      health_min smallint NOT NULL,
      below smallint NOT NULL,
      n integer NOT NULL,
      trust smallint NOT NULL,
      health bigint NOT NULL,
      weight bigint NOT NULL,
      rank double precision NOT NULL,
      id text COLLATE "C" NOT NULL,
      vertical text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL,
      city text COLLATE "C" NOT NULL
    );
    CREATE INDEX composite_steps_number ON composite_steps (number);
    ${
    leastMembersOfSteps.map((n) =>
      `CREATE INDEX composite_steps_rank_of_${n} ON composite_steps (of_weight, rank, id)
        INCLUDE (health_min, below, n, trust, health, number) WHERE n >= ${n};`
    ).join("\n")
  }
    CREATE INDEX composite_steps_vertical ON composite_steps (vertical, of_weight, rank, id)
      INCLUDE (health_min, below, state, n, trust, health, number);
    CREATE INDEX composite_steps_state ON composite_steps (state, of_weight, rank, id)
      INCLUDE (health_min, below, vertical, n, trust, health, number);
    CREATE INDEX composite_steps_city ON composite_steps (city, state, of_weight)
      INCLUDE (health_min, below, vertical, n, trust, health, number);

    -- A composite with n members and this trust begins at health (groups is above zero) or ends there: those of a least
    -- health are the sum of all rows from it on.
    CREATE TABLE composite_step_totals (
      of_weight smallint NOT NULL,
      health smallint NOT NULL,
      n integer NOT NULL,
      trust smallint NOT NULL,
      groups integer NOT NULL,
      PRIMARY KEY (of_weight, health, n, trust)
    );
    CREATE INDEX composite_step_totals_none ON composite_step_totals (health) WHERE groups = 0;

    -- Groups whose listings changed since they were counted; written in the transaction of the change.
    CREATE TABLE composite_marks (group_number integer NOT NULL);

    -- A row for each listing that may be a member. weight: 1 basic, 2 featured, 3 premium; score: trust x weight x health.
    CREATE TABLE composite_entries (
      number integer NOT NULL,
      group_number integer NOT NULL,
      trust smallint NOT NULL,
      weight smallint NOT NULL,
      health smallint NOT NULL,
      score smallint NOT NULL GENERATED ALWAYS AS (trust * weight * health) STORED
    );
    CREATE UNIQUE INDEX composite_entries_number ON composite_entries (number)
      INCLUDE (group_number, trust, weight, health, score);
    CREATE INDEX composite_entries_group ON composite_entries (group_number, score DESC, number)
      INCLUDE (trust, weight, health);
    CREATE INDEX listings_tags ON listings USING gin (tags) WITH (fastupdate = off) WHERE status = 'active';

    CREATE FUNCTION composite_weight(tier text) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT (CASE tier WHEN 'premium' THEN 3 WHEN 'featured' THEN 2 ELSE 1 END)::smallint
    $$;

    CREATE TYPE composite_spelling AS
      (industry text, state text, city text, vertical_key text, state_key text, city_key text);
    CREATE FUNCTION composite_index(numbers integer[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      before integer[];
      spellings composite_spelling[];
    BEGIN
      WITH gone AS (DELETE FROM composite_entries WHERE number = ANY(numbers) RETURNING group_number)
      SELECT array_agg(DISTINCT group_number) INTO before FROM gone;

      -- Once for each spelling: to make a key is dear.
      SELECT array_agg(ROW(l.industry, l.state, l.city,
          composite_key(l.industry), composite_state(l.state), composite_key(l.city))::composite_spelling) INTO spellings
      FROM (
        SELECT DISTINCT industry, state, city FROM listings
        WHERE number = ANY(numbers) AND status = 'active' AND health_score >= 50
      ) l;

      INSERT INTO composite_groups (id, vertical, state, city)
        SELECT composite_id(concat_ws('|', vertical_key, state_key, city_key)), vertical_key, state_key, city_key FROM (
          SELECT DISTINCT s.vertical_key, s.state_key, s.city_key FROM unnest(spellings) s
          WHERE NOT EXISTS (SELECT FROM composite_groups g
            WHERE (g.vertical, g.state, g.city) = (s.vertical_key, s.state_key, s.city_key))
        ) s ORDER BY 2, 3, 4 ON CONFLICT DO NOTHING;

      WITH fresh AS (
        INSERT INTO composite_entries (number, group_number, trust, weight, health)
          SELECT l.number, s.number, l.verification_tier, composite_weight(l.tier), l.health_score
          FROM listings l JOIN (
            SELECT s.industry, s.state, s.city, g.number FROM unnest(spellings) s
            JOIN composite_groups g ON (g.vertical, g.state, g.city) = (s.vertical_key, s.state_key, s.city_key)
          ) s ON (s.industry, s.state, s.city) = (l.industry, l.state, l.city)
          WHERE l.number = ANY(numbers) AND l.status = 'active' AND l.health_score >= 50
        RETURNING group_number
      )
      INSERT INTO composite_marks
        SELECT group_number FROM fresh UNION SELECT unnest(before);
    END $$;

    CREATE FUNCTION composite_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE touched integer[];
    BEGIN
      IF TG_OP = 'INSERT' THEN
        SELECT array_agg(number) INTO touched FROM now_there WHERE status = 'active' AND health_score >= 50;
      ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(number) INTO touched FROM was_there WHERE status = 'active' AND health_score >= 50;
      ELSE
        -- Most changes are of the score alone: the group stays.
        WITH changed AS (
          SELECT n.number, n.verification_tier, n.tier, n.health_score FROM now_there n JOIN was_there w ON w.number = n.number
          WHERE (n.status, n.industry, n.city, n.state) = (w.status, w.industry, w.city, w.state)
            AND n.status = 'active' AND n.health_score >= 50 AND w.health_score >= 50
            AND (n.verification_tier, n.tier, n.health_score) <> (w.verification_tier, w.tier, w.health_score)
        ), rated AS (
          UPDATE composite_entries e
            SET trust = c.verification_tier, weight = composite_weight(c.tier), health = c.health_score
          FROM changed c WHERE e.number = c.number RETURNING e.group_number
        )
        INSERT INTO composite_marks SELECT DISTINCT group_number FROM rated;
        SELECT array_agg(n.number) INTO touched FROM now_there n JOIN was_there w ON w.number = n.number
        WHERE (n.status = 'active' AND n.health_score >= 50 OR w.status = 'active' AND w.health_score >= 50)
          AND (n.status, n.industry, n.city, n.state, n.health_score >= 50) IS DISTINCT FROM
            (w.status, w.industry, w.city, w.state, w.health_score >= 50);
      END IF;
      IF touched IS NOT NULL THEN PERFORM composite_index(touched); END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER composite_insert AFTER INSERT ON listings REFERENCING NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_follow();
    CREATE TRIGGER composite_update AFTER UPDATE ON listings REFERENCING OLD TABLE AS was_there NEW TABLE AS now_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_follow();
    CREATE TRIGGER composite_delete AFTER DELETE ON listings REFERENCING OLD TABLE AS was_there
      FOR EACH STATEMENT EXECUTE FUNCTION composite_follow();

    SELECT composite_index(array_agg(number)) FROM listings WHERE status = 'active' AND health_score >= 50;
  `))
