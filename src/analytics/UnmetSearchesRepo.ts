import { many, run, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { type SearchCount, type Surroundings, UnmetSearch } from "./UnmetSearch.ts"

/** Different searches that are kept of a day: in all, and of one place. */
const mostOfDay = 5_000
const mostOfPlace = 200

export class UnmetSearchesRepo extends Effect.Service<UnmetSearchesRepo>()("analytics/UnmetSearchesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const key = sql`day, city, state, square, words, category, kind, verification`

    // Searches that are there already count on when their day or place is full. Rows are written in order so that two
    // instances can't deadlock.
    const add = (counts: ReadonlyArray<SearchCount>) =>
      sql`WITH fresh AS (
          SELECT * FROM json_to_recordset(${JSON.stringify(counts)}::json) AS e(day date, city text, state text,
            square int, words text, category text, kind text, verification int, n int)
        ), of_days AS (
          SELECT day, count(*) AS rows FROM unmet_searches
          WHERE day IN (SELECT day FROM fresh) GROUP BY day
        ), of_places AS (
          SELECT day, city, state, square, count(*) AS rows FROM unmet_searches
          WHERE (day, city, state, square) IN (SELECT day, city, state, square FROM fresh)
          GROUP BY day, city, state, square
        ), known AS (
          SELECT ${key}, f.n FROM fresh f JOIN unmet_searches USING (${key})
        ), new AS (
          SELECT ${key}, n, row_number() OVER (PARTITION BY day ORDER BY n DESC) + coalesce(d.rows, 0) AS of_day,
            row_number() OVER (PARTITION BY day, city, state, square ORDER BY n DESC) + coalesce(p.rows, 0) AS of_place
          FROM fresh f LEFT JOIN of_days d USING (day) LEFT JOIN of_places p USING (day, city, state, square)
          WHERE NOT EXISTS (SELECT FROM known k WHERE (k.day, k.city, k.state, k.square, k.words, k.category, k.kind,
            k.verification) = (f.day, f.city, f.state, f.square, f.words, f.category, f.kind, f.verification))
        )
        INSERT INTO unmet_searches AS o (${key}, n)
          SELECT ${key}, n FROM (
            SELECT ${key}, n FROM known
            UNION ALL SELECT ${key}, n FROM new WHERE of_day <= ${mostOfDay} AND of_place <= ${mostOfPlace}
          ) f ORDER BY ${key}
        ON CONFLICT (${key}) DO UPDATE SET n = o.n + excluded.n`

    const around = ({ categories, city, kinds, squares, state }: Surroundings, since: string, count: number) =>
      sql`SELECT words, category, kind, verification, city, state, bool_or(is_near) AS is_near, sum(n)::int AS times,
            max(day)::text AS last_day
          FROM (
            SELECT *, coalesce(city <> '' AND city = ${city} AND state IN ('', ${state})
              OR city = '' AND state <> '' AND state = ${state}
              OR square = ANY(${squares}::int[]), false) AS is_near
            FROM unmet_searches WHERE day >= ${since}
              AND (city = ${city} AND city <> '' OR city = '' AND state = ${state} AND state <> '' OR square = ANY(${squares}::int[])
                OR category = ANY(${categories}::text[]) OR kind = ANY(${kinds}::text[]))
          ) s
          WHERE is_near OR category = ANY(${categories}::text[]) OR kind = ANY(${kinds}::text[])
          GROUP BY words, category, kind, verification, city, state
          ORDER BY bool_or(is_near) DESC, sum(n) DESC, max(day) DESC, words, category, kind, verification, city, state
          LIMIT ${count}`

    return {
      add: (counts: ReadonlyArray<SearchCount>) => run(add(counts)),
      around: many(UnmetSearch)(around),
      forget: (before: string) => withLongTimeout(sql)(run(sql`DELETE FROM unmet_searches WHERE day < ${before}`))
    } as const
  })
}) {}
