import { decodePassing } from "#src/shared/passing.ts"
import { dieOnSql, many } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type CountKey, DirectoryCounts } from "./DirectoryCounts.ts"
import { type Facets } from "./Facets.ts"
import { type Predicate } from "./predicates.ts"
import { Conditions } from "./search-sql.ts"

const maxValues = 50

const Label = Schema.Struct({ kind: Schema.Literal("c", "k"), value: Schema.String, count: Schema.Int })
const City = Schema.Struct({ city: Schema.String, state: Schema.String, count: Schema.Int })

const facetsOf = (
  total: number,
  labels: ReadonlyArray<typeof Label.Type>,
  cities: ReadonlyArray<typeof City.Type>
): Facets => {
  const of = (kind: "c" | "k") =>
    labels.filter((label) => label.kind === kind).map(({ count, value }) => ({ value, count }))
  return { total, categories: of("c"), kinds: of("k"), cities }
}

/** Counts the values of listings: from the index of those that match, or from the counts where they suffice. */
export class FacetsRepo extends Effect.Service<FacetsRepo>()("directory/FacetsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const counts = yield* DirectoryCounts
    const { matching } = Conditions(sql)

    /** Of labels with their counts, the most frequent of each kind. */
    const topLabels = (labels: Statement.Fragment) =>
      sql`SELECT kind, value, n AS count FROM (
          SELECT kind, value, n, row_number() OVER (PARTITION BY kind ORDER BY n DESC, value) AS place FROM (${labels}) l
          WHERE n > 0
        ) ranked WHERE place <= ${maxValues} ORDER BY kind, place`

    /** Of places with their counts, the most frequent: spelled as their best listing spells them. */
    const topCities = (places: Statement.Fragment) =>
      sql`SELECT best.city, best.state, top.n AS count FROM (
          SELECT c.place_id, c.n FROM (${places}) c JOIN directory_places p ON p.id = c.place_id
          WHERE p.city <> '' AND c.n > 0 ORDER BY c.n DESC, p.city, p.state LIMIT ${maxValues}
        ) top, LATERAL (
          SELECT l.city, l.state FROM directory_entries e JOIN listings l ON l.number = e.number
          WHERE e.place_id = top.place_id ORDER BY e.rank, e.number LIMIT 1
        ) best ORDER BY top.n DESC, best.city, best.state`

    const Document = Schema.Struct({
      total: Schema.Int,
      labels: Schema.Array(Label),
      cities: Schema.Array(City)
    })
    const decodeDocument = decodePassing(Schema.Tuple(Document))

    /** Of the entries that match: one statement. */
    const ofMatching = Effect.fnUntraced(function*(by: Predicate, predicates: ReadonlyArray<Predicate>) {
      const labels = sql`SELECT left(d.label, 1) AS kind, substr(d.label, 3) AS value, count(*)::int AS n
        FROM entries e, unnest(e.labels) AS label_id JOIN directory_labels d ON d.id = label_id GROUP BY 1, 2`
      const places = sql`SELECT place_id, count(*)::int AS n FROM entries GROUP BY 1`
      const [{ cities, labels: found, total }] = yield* decodeDocument(
        yield* sql`WITH ${matching(by, predicates)}, entries AS MATERIALIZED (
          SELECT d.labels, d.place_id FROM matching m JOIN directory_entries d ON d.number = m.number
        )
        SELECT (SELECT count(*)::int FROM entries) AS total,
          (SELECT coalesce(json_agg(f), '[]') FROM (${topLabels(labels)}) f) AS labels,
          (SELECT coalesce(json_agg(f), '[]') FROM (${topCities(places)}) f) AS cities`
      )
      return facetsOf(total, found, cities)
    }, dieOnSql)

    const labelsOfTier = many(Label)((tier: number) =>
      topLabels(sql`SELECT kind, value, sum(n)::int AS n FROM (
          SELECT CASE category WHEN '' THEN 'k' ELSE 'c' END AS kind,
            CASE category WHEN '' THEN template_type ELSE category END AS value, n
          FROM directory_counts WHERE state IS NULL AND tier >= ${tier}
          UNION ALL SELECT 'k', industry, n FROM directory_counts
          WHERE state IS NULL AND category = '' AND industry <> template_type AND tier >= ${tier}
        ) counted GROUP BY 1, 2`)
    )
    const citiesOfTier = many(City)((tier: number) =>
      topCities(sql`SELECT place_id, sum(n)::int AS n FROM directory_place_counts
        WHERE label_id = 0 AND tier >= ${tier} GROUP BY 1`)
    )

    return {
      ofMatching,
      /** Of all listings of a tier or above, without looking at them. */
      ofTier: (key: CountKey & { readonly category: undefined; readonly kind: undefined }) =>
        Effect.zipWith(
          counts.counted(key),
          Effect.zip(labelsOfTier(key.tier ?? 0), citiesOfTier(key.tier ?? 0)),
          (total, [labels, cities]) => facetsOf(total, labels, cities)
        )
    } as const
  })
}) {}
