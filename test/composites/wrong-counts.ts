import { runSql } from "../support/sql.ts"

/** What is stored, beside what the entries come to. */
export const wrongCounts = (url: string) =>
  runSql(
    url,
    `SELECT g.city, g.n, c.n AS now FROM composite_groups g LEFT JOIN (
       SELECT group_number, count(*)::int AS n, sum(health) AS health FROM composite_entries GROUP BY 1
     ) c ON c.group_number = g.number
     WHERE (g.n, g.health) IS DISTINCT FROM (coalesce(c.n, 0), coalesce(c.health, 0))`
  )

/** Steps, and how many composites there are of each least health, beside what the entries come to. */
export const wrongSteps = (url: string) =>
  runSql(
    url,
    `WITH least AS (SELECT * FROM generate_series(50, 100) AS health, generate_series(0, 3) AS of_weight),
     expected AS (
       SELECT l.health AS least, l.of_weight, e.group_number AS number, count(*)::int AS n, min(e.trust) AS trust,
         sum(e.health) AS health, sum(e.weight) AS weight
       FROM least l JOIN composite_entries e ON e.health >= l.health AND l.of_weight IN (0, e.weight)
       JOIN composite_groups g ON g.number = e.group_number AND g.is_composite GROUP BY 1, 2, 3
     ), stored AS (
       SELECT l.health AS least, l.of_weight, s.number, s.n, s.trust, s.health, s.weight
       FROM least l JOIN composite_steps s ON s.of_weight = l.of_weight AND s.below < l.health AND s.health_min >= l.health
     ), wrong AS ((TABLE expected EXCEPT ALL TABLE stored) UNION ALL (TABLE stored EXCEPT ALL TABLE expected)),
     totals AS (
       SELECT l.health AS least, l.of_weight, t.n, t.trust, sum(t.groups) AS groups
       FROM least l JOIN composite_step_totals t ON t.of_weight = l.of_weight AND t.health >= l.health
       GROUP BY 1, 2, 3, 4 HAVING sum(t.groups) <> 0
     ), counted AS (SELECT least, of_weight, n, trust, count(*)::numeric AS groups FROM expected GROUP BY 1, 2, 3, 4)
     SELECT 'step' AS what, least, of_weight, n FROM wrong
     UNION ALL SELECT 'total', least, of_weight, n FROM (
       (TABLE totals EXCEPT TABLE counted) UNION ALL (TABLE counted EXCEPT TABLE totals)
     ) t`
  )

/** Steps of composites by broad labels, and how many there are, beside what the entries come to: as above. */
export const wrongLabelSteps = (url: string) =>
  runSql(
    url,
    `WITH least AS (SELECT * FROM generate_series(50, 100) AS health, generate_series(0, 3) AS of_weight),
     broad AS (
       SELECT b.number AS label, l.number AS member, l.group_number, l.trust, l.weight, l.health
       FROM composite_broad_labels b JOIN composite_labels l USING (label, is_tag)
       JOIN composite_groups g ON g.number = l.group_number AND g.is_composite
     ), counting AS (
       SELECT label, 0 AS with_label, group_number, trust, weight, health, w.w AS of_weight
       FROM broad, generate_series(0, 3) AS w(w) WHERE w.w IN (0, weight)
       UNION ALL SELECT x.label, y.label, x.group_number, x.trust, x.weight, x.health, 0
       FROM broad x JOIN broad y USING (member) WHERE x.label < y.label
     ), expected AS (
       SELECT l.health AS least, l.of_weight, e.label, e.with_label, e.group_number AS number, count(*)::int AS n,
         min(e.trust) AS trust, sum(e.health)::bigint AS health, sum(e.weight)::bigint AS weight
       FROM least l JOIN counting e ON e.health >= l.health AND l.of_weight = e.of_weight GROUP BY 1, 2, 3, 4, 5
     ), stored AS (
       SELECT l.health AS least, l.of_weight, s.label, s.with_label, s.number, s.n, s.trust, s.health, s.weight
       FROM least l JOIN composite_label_steps s ON s.of_weight = l.of_weight AND s.below < l.health
         AND s.health_min >= l.health
     ), wrong AS ((TABLE expected EXCEPT ALL TABLE stored) UNION ALL (TABLE stored EXCEPT ALL TABLE expected)),
     totals AS (
       SELECT l.health AS least, l.of_weight, t.label, t.with_label, t.n, t.trust, sum(t.groups) AS groups
       FROM least l JOIN composite_label_step_totals t ON t.of_weight = l.of_weight AND t.health >= l.health
       GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(t.groups) <> 0
     ), counted AS (
       SELECT least, of_weight, label, with_label, n, trust, count(*)::numeric AS groups FROM expected
       GROUP BY 1, 2, 3, 4, 5, 6
     )
     SELECT 'step' AS what, least, of_weight, label, with_label FROM wrong
     UNION ALL SELECT 'total', least, of_weight, label, with_label FROM (
       (TABLE totals EXCEPT TABLE counted) UNION ALL (TABLE counted EXCEPT TABLE totals)
     ) t`
  )

/** What each composite comes to by the categories and tags of its members, and how many there are: as the steps above. */
export const wrongLabels = (url: string) =>
  runSql(
    url,
    `WITH labels AS (
       SELECT l.number, false AS is_tag, unnest(l.categories) AS label FROM listings l
       UNION SELECT l.number, true, unnest(l.tags) FROM listings l
     ), members AS (
       SELECT l.*, e.group_number, e.trust, e.weight, e.health, e.score FROM labels l JOIN composite_entries e USING (number)
     ), rows AS (SELECT number, is_tag, label, group_number, trust, weight, health, score FROM composite_labels),
     expected AS (
       SELECT m.group_number AS number, m.is_tag, m.label, count(*)::int AS n, min(m.trust) AS trust,
         sum(m.health)::bigint AS health, sum(m.weight)::bigint AS weight
       FROM members m JOIN composite_groups g ON g.number = m.group_number AND g.is_composite GROUP BY 1, 2, 3
     ), stored AS (SELECT number, is_tag, label, n, trust, health, weight FROM composite_label_groups),
     counted AS (SELECT label, is_tag, n, trust, count(*)::int AS groups FROM expected GROUP BY 1, 2, 3, 4)
     SELECT 'member' AS what, label FROM (
       (TABLE members EXCEPT ALL TABLE rows) UNION ALL (TABLE rows EXCEPT ALL TABLE members)
     ) m
     UNION ALL SELECT 'group', label FROM (
       (TABLE expected EXCEPT ALL TABLE stored) UNION ALL (TABLE stored EXCEPT ALL TABLE expected)
     ) g
     UNION ALL SELECT 'total', label FROM (
       (TABLE counted EXCEPT TABLE composite_label_totals) UNION ALL (TABLE composite_label_totals EXCEPT TABLE counted)
     ) t`
  )
