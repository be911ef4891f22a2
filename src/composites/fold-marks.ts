import { Count, one, withLongTimeout } from "#src/shared/sql.ts"
import { type SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { GroupSql } from "./group-sql.ts"
import { labelSteps } from "./label-steps.ts"

/** Marks that one statement takes. */
const foldBatch = 20_000

/** One at a time, or an older count could come last. */
export const counting = (sql: SqlClient.SqlClient) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  withLongTimeout(sql)(Effect.zipRight(sql`SELECT pg_advisory_xact_lock(hashtext('composite_marks'))`, work))

/** Stores the counts of groups that changed, and takes their marks (docs/decisions/composite-counts.md). */
export const foldMarks = (sql: SqlClient.SqlClient) => {
  const { sums, verifiedSums } = GroupSql(sql)
  const composites = sql`
    SELECT c.group_number FROM changed c JOIN composite_groups g ON g.number = c.group_number WHERE g.is_composite`
  const labelled = sql`number, is_tag, label, n, trust, health, weight`
  const step = sql`number, of_weight, health_min, below, n, trust, health, weight`

  /**
   * The CTE `moved_steps`: steps that come (by 1) and go (by -1); those that are the same stay. A listing counts once among
   * all (of_weight 0) and once among those of its tier. They are compared by grouping: for a join PostgreSQL would expect
   * few rows, and go through all of them for each.
   */
  const steps = sql`cells AS (
      SELECT e.group_number, w.of_weight, e.health AS health_min, count(*) AS n, min(e.trust) AS trust,
        sum(e.health) AS health, sum(e.weight) AS weight
      FROM composite_entries e, LATERAL (VALUES (0), (e.weight)) w(of_weight)
      WHERE e.group_number = ANY(ARRAY(${composites})) GROUP BY 1, 2, 3
    ), moved_steps AS MATERIALIZED (
      SELECT ${step}, sum(by) AS by, max(at) AS at FROM (
        SELECT group_number AS number, of_weight::smallint, health_min,
          coalesce(lead(health_min) OVER w, 0)::smallint AS below, (sum(n) OVER w)::int AS n, min(trust) OVER w AS trust,
          (sum(health) OVER w)::bigint AS health, (sum(weight) OVER w)::bigint AS weight, 1 AS by, NULL::tid AS at
        FROM cells WINDOW w AS (PARTITION BY group_number, of_weight ORDER BY health_min DESC)
        UNION ALL
        SELECT ${step}, -1, ctid FROM composite_steps WHERE number = ANY(ARRAY(SELECT group_number FROM changed))
      ) both_steps GROUP BY ${step} HAVING sum(by) <> 0
    ), gone_steps AS (
      DELETE FROM composite_steps WHERE ctid = ANY(ARRAY(SELECT at FROM moved_steps WHERE by < 0))
    ), new_steps AS (
      INSERT INTO composite_steps (${step}, rank, id, vertical, state, city)
        SELECT m.number, m.of_weight, m.health_min, m.below, m.n, m.trust, m.health, m.weight,
          (m.trust * m.health * m.weight)::float8 / -(m.n::bigint * m.n), g.id, g.vertical, g.state, g.city
        FROM moved_steps m JOIN composite_groups g ON g.number = m.number WHERE m.by > 0
    ), step_totals AS (
      INSERT INTO composite_step_totals AS t (of_weight, health, n, trust, groups)
        SELECT of_weight, bound.health, n, trust, sum(bound.by)
        FROM moved_steps m, LATERAL (VALUES (health_min, m.by), (below, -m.by)) bound(health, by)
        WHERE bound.health > 0 GROUP BY 1, 2, 3, 4 HAVING sum(bound.by) <> 0
      ON CONFLICT (of_weight, health, n, trust) DO UPDATE SET groups = t.groups + excluded.groups
    )`

  /** The same of what groups come to by the members with each label. */
  const labels = sql`moved_labels AS MATERIALIZED (
      SELECT ${labelled}, sum(by) AS by, max(at) AS at FROM (
        SELECT e.group_number AS number, is_tag, label, count(*)::int AS n, min(trust) AS trust,
          sum(health)::bigint AS health, sum(weight)::bigint AS weight, 1 AS by, NULL::tid AS at
        FROM composite_labels e WHERE e.group_number = ANY(ARRAY(${composites})) GROUP BY 1, 2, 3
        UNION ALL
        SELECT ${labelled}, -1, ctid FROM composite_label_groups
        WHERE number = ANY(ARRAY(SELECT group_number FROM changed))
      ) both_labels GROUP BY ${labelled} HAVING sum(by) <> 0
    ), gone_labels AS (
      DELETE FROM composite_label_groups WHERE ctid = ANY(ARRAY(SELECT at FROM moved_labels WHERE by < 0))
    ), new_labels AS (
      INSERT INTO composite_label_groups (${labelled}, rank, id)
        SELECT m.number, m.is_tag, m.label, m.n, m.trust, m.health, m.weight,
          (m.trust * m.health * m.weight)::float8 / -(m.n::bigint * m.n), g.id
        FROM moved_labels m JOIN composite_groups g ON g.number = m.number WHERE m.by > 0
    ), label_totals AS (
      INSERT INTO composite_label_totals AS t (label, is_tag, n, trust, groups)
        SELECT label, is_tag, n, trust, sum(by) FROM moved_labels GROUP BY 1, 2, 3, 4 HAVING sum(by) <> 0
      ON CONFLICT (label, is_tag, n, trust) DO UPDATE SET groups = t.groups + excluded.groups
    )`

  /** Counts groups that changed, and takes their marks, in one statement: what it counts is what the marks were for. */
  const foldSome = one(Count)(() =>
    sql`WITH taken AS (
        DELETE FROM composite_marks WHERE ctid = ANY(ARRAY(SELECT ctid FROM composite_marks LIMIT ${foldBatch}))
        RETURNING group_number
      ), changed AS MATERIALIZED (SELECT DISTINCT group_number FROM taken),
      fresh AS MATERIALIZED (
        SELECT c.group_number AS number, s.* FROM changed c LEFT JOIN (
          SELECT e.group_number, ${sums}, ${verifiedSums} FROM composite_entries e
          WHERE e.group_number = ANY(ARRAY(SELECT group_number FROM changed)) GROUP BY 1
        ) s USING (group_number)
      ), moved AS (
        SELECT n, trust, sum(by) AS by FROM (
          SELECT g.n, g.trust, -1 AS by FROM changed c JOIN composite_groups g ON g.number = c.group_number
          WHERE g.is_composite
          UNION ALL SELECT coalesce(f.n, 0), coalesce(f.trust, 0), 1 FROM fresh f JOIN composite_groups g USING (number)
          WHERE g.is_composite
        ) moves WHERE n > 0 GROUP BY 1, 2 HAVING sum(by) <> 0
      ), totals AS (
        INSERT INTO composite_totals AS t (n, trust, groups) SELECT n, trust, by FROM moved
        ON CONFLICT (n, trust) DO UPDATE SET groups = t.groups + excluded.groups
      ), stored AS (
        UPDATE composite_groups g SET n = coalesce(f.n, 0), trust = coalesce(f.trust, 0), health = coalesce(f.health, 0),
          weight = coalesce(f.weight, 0), rank = coalesce(f.rank, 0), verified_n = coalesce(f.verified_n, 0),
          verified_trust = coalesce(f.verified_trust, 0), verified_health = coalesce(f.verified_health, 0)
        FROM fresh f WHERE g.number = f.number
      ), ${steps}, ${labels}, ${labelSteps(sql, composites)}
      SELECT count(*)::int AS count FROM taken`
  )
  /** Sizes come and go with each change: without this their rows would pile up. */
  const forget = Effect.all([
    sql`DELETE FROM composite_step_totals WHERE groups = 0`,
    sql`DELETE FROM composite_label_totals WHERE groups = 0`,
    sql`DELETE FROM composite_label_step_totals WHERE groups = 0`
  ])
  return Effect.repeat(
    counting(sql)(Effect.zipLeft(foldSome(), forget)),
    { until: (count) => count < foldBatch }
  )
}
