import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

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
  `))
