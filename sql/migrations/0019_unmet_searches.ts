import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Searches of the directory that found nothing, by day and without who asked (docs/decisions/unmet-searches.md). Empty
 * texts and square -1: not asked for. Squares are those of the directory's index (migration 0005).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE unmet_searches (
      day date NOT NULL,
      city text NOT NULL,
      state text NOT NULL,
      square integer NOT NULL,
      words text NOT NULL,
      category text NOT NULL,
      kind text NOT NULL,
      verification integer NOT NULL,
      n integer NOT NULL,
      PRIMARY KEY (day, city, state, square, words, category, kind, verification)
    );
    CREATE INDEX ON unmet_searches (city, state, day);
    CREATE INDEX ON unmet_searches (square, day);
    CREATE INDEX ON unmet_searches (category, day);
    CREATE INDEX ON unmet_searches (kind, day);
  `))
