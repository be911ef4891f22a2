import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What composites come to by the categories and tags that very many listings have: by health and tier, by place, and by
 * two of them (docs/decisions/composite-counts.md).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- is_ready: all groups with it are in composite_label_steps. It is not before, nor for the last minutes.
    CREATE TABLE composite_broad_labels (
      number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      label text COLLATE "C" NOT NULL,
      is_tag boolean NOT NULL,
      is_ready boolean NOT NULL DEFAULT false,
      UNIQUE (label, is_tag)
    );

    -- As composite_steps, of members with the broad label, and with with_label too (the higher number; 0: none, and then
    -- by weight). below: the next lower score, so that a row holds for each least health above it up to health_min.
    CREATE TABLE composite_label_steps (
      number integer NOT NULL,
      label integer NOT NULL,
      with_label integer NOT NULL,
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
      state text COLLATE "C" NOT NULL
    );
    CREATE INDEX composite_label_steps_number ON composite_label_steps (number);
    CREATE INDEX composite_label_steps_rank_of_1 ON composite_label_steps (label, with_label, of_weight, rank, id)
      INCLUDE (health_min, below, n, trust, health, number);
    CREATE INDEX composite_label_steps_rank_of_5 ON composite_label_steps (label, with_label, of_weight, rank, id)
      INCLUDE (health_min, below, n, trust, health, number) WHERE n >= 5;
    CREATE INDEX composite_label_steps_vertical ON composite_label_steps (label, with_label, of_weight, vertical, rank, id)
      INCLUDE (health_min, below, state, n, trust, health, number);
    CREATE INDEX composite_label_steps_state ON composite_label_steps (label, with_label, of_weight, state, rank, id)
      INCLUDE (health_min, below, vertical, n, trust, health, number);

    CREATE TABLE composite_label_step_totals (
      label integer NOT NULL,
      with_label integer NOT NULL,
      of_weight smallint NOT NULL,
      health smallint NOT NULL,
      n integer NOT NULL,
      trust smallint NOT NULL,
      groups integer NOT NULL,
      PRIMARY KEY (label, with_label, of_weight, health, n, trust)
    );
    CREATE INDEX composite_label_step_totals_none ON composite_label_step_totals (health) WHERE groups = 0;
  `))
