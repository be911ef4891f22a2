import { type SqlClient, type Statement } from "@effect/sql"

/**
 * CTEs that store what the groups of the statement `groups` come to by broad labels, and by two of them: steps that come
 * (by 1) and go (by -1), as in fold-marks.ts. They read the broad labels of this moment, whether ready or not.
 */
export const labelSteps = (sql: SqlClient.SqlClient, groups: Statement.Fragment) => {
  const step = sql`number, label, with_label, of_weight, health_min, below, n, trust, health, weight`
  const cell = sql`group_number, label, with_label, of_weight`
  return sql`broad_members AS (
      SELECT e.group_number, e.number, e.trust, e.weight, e.health, array_agg(b.number ORDER BY b.number) AS labels
      FROM composite_labels e JOIN composite_broad_labels b ON (b.label, b.is_tag) = (e.label, e.is_tag)
      WHERE e.group_number = ANY(ARRAY(${groups})) GROUP BY 1, 2, 3, 4, 5
    ), label_cells AS (
      SELECT ${cell}, m.health AS health_min, count(*) AS n, min(m.trust) AS trust, sum(m.health) AS health,
        sum(m.weight) AS weight
      FROM broad_members m, LATERAL (
        SELECT label, 0 AS with_label, of_weight
        FROM unnest(m.labels) AS label, (VALUES (0::smallint), (m.weight)) w(of_weight)
        UNION ALL
        SELECT label, with_label, 0::smallint FROM unnest(m.labels) AS label, unnest(m.labels) AS with_label
        WHERE label < with_label
      ) c GROUP BY ${cell}, m.health
    ), moved_label_steps AS MATERIALIZED (
      SELECT ${step}, sum(by) AS by, max(at) AS at FROM (
        SELECT group_number AS number, label, with_label, of_weight, health_min,
          coalesce(lead(health_min) OVER w, 0)::smallint AS below, (sum(n) OVER w)::int AS n, min(trust) OVER w AS trust,
          (sum(health) OVER w)::bigint AS health, (sum(weight) OVER w)::bigint AS weight, 1 AS by, NULL::tid AS at
        FROM label_cells WINDOW w AS (PARTITION BY ${cell} ORDER BY health_min DESC)
        UNION ALL
        SELECT ${step}, -1, ctid FROM composite_label_steps WHERE number = ANY(ARRAY(${groups}))
      ) both_label_steps GROUP BY ${step} HAVING sum(by) <> 0
    ), gone_label_steps AS (
      DELETE FROM composite_label_steps WHERE ctid = ANY(ARRAY(SELECT at FROM moved_label_steps WHERE by < 0))
    ), new_label_steps AS (
      INSERT INTO composite_label_steps (${step}, rank, id, vertical, state)
        SELECT m.number, m.label, m.with_label, m.of_weight, m.health_min, m.below, m.n, m.trust, m.health, m.weight,
          (m.trust * m.health * m.weight)::float8 / -(m.n::bigint * m.n), g.id, g.vertical, g.state
        FROM moved_label_steps m JOIN composite_groups g ON g.number = m.number WHERE m.by > 0
    ), label_step_totals AS (
      INSERT INTO composite_label_step_totals AS t (label, with_label, of_weight, health, n, trust, groups)
        SELECT label, with_label, of_weight, bound.health, n, trust, sum(bound.by)
        FROM moved_label_steps m, LATERAL (VALUES (health_min, m.by), (below, -m.by)) bound(health, by)
        WHERE bound.health > 0 GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(bound.by) <> 0
      ON CONFLICT (label, with_label, of_weight, health, n, trust) DO UPDATE SET groups = t.groups + excluded.groups
    )`
}
