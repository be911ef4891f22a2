import { dieOnSql, many, patiently } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"

/** What is counted beforehand. */
export interface Counted {
  readonly category: string | undefined
  readonly kind: string | undefined
  readonly tier: number | undefined
}

const OfTier = Schema.Struct({ tier: Schema.Int, n: Schema.Int })
const Total = Schema.Struct({ total: Schema.Int })

/** The total that each row of a statement carries. */
export const decodeTotal = Schema.decodeUnknown(Schema.Tuple(Total))

/** Runs a statement that brings a total, and nothing else. */
export const totalOf = (counting: Statement.Statement<unknown>) =>
  counting.pipe(
    Effect.flatMap(decodeTotal),
    Effect.map(([{ total }]) => total),
    dieOnSql
  )

const mostFolded = 50_000

type CountTable = "directory_counts" | "directory_place_counts" | "directory_word_counts"

/** How many listings are alike, known without looking at them (migration 0005). */
export class DirectoryCounts extends Effect.Service<DirectoryCounts>()("directory/DirectoryCounts", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** The statement that counts everywhere, or in the states that a condition on `state` lets through. */
    const sumOf = ({ category = "", kind, tier }: Counted, states = sql`state IS NULL`) =>
      sql`SELECT coalesce(sum(n), 0)::int AS total FROM directory_counts WHERE ${
        sql.and([
          sql`category = ${category}`,
          ...(kind === undefined ? [] : [sql`(template_type = ${kind} OR industry = ${kind})`]),
          ...(tier === undefined ? [] : [sql`tier >= ${tier}`]),
          states
        ])
      }`

    const ofTiers = many(OfTier)(() =>
      sql`SELECT tier, sum(n)::int AS n FROM directory_counts
            WHERE category = '' AND state IS NULL GROUP BY tier`
    )
    const [cached, forget] = yield* Effect.cachedInvalidateWithTTL(ofTiers(), "1 minute")
    // A failure is not worth remembering.
    const sizes = Effect.tapErrorCause(cached, () => forget)

    // Each adds changes to the rows that they change, and tells how many there were.
    const foldKinds = sql`WITH changes AS (SELECT ctid FROM directory_counts WHERE folded IS NULL LIMIT ${mostFolded}),
          gone AS (DELETE FROM directory_counts WHERE ctid = ANY(ARRAY(SELECT ctid FROM changes)) RETURNING *),
          added AS (
            INSERT INTO directory_counts
              SELECT category, template_type, industry, tier, state, sum(n),
                md5(concat_ws(chr(1), category, template_type, industry, tier, ' ' || state))::uuid AS folded
              FROM gone GROUP BY category, template_type, industry, tier, state ORDER BY folded
            ON CONFLICT (folded) DO UPDATE SET n = directory_counts.n + excluded.n
          )
          SELECT count(*)::int AS total FROM gone`
    const foldBy = (table: CountTable, columns: ReadonlyArray<string>) => {
      const key = sql.join(", ", false)(columns.map((column) => sql`${sql(column)}`))
      return sql`WITH changes AS (SELECT ctid FROM ${sql(table)} WHERE NOT is_folded LIMIT ${mostFolded}),
          gone AS (DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(SELECT ctid FROM changes)) RETURNING *),
          added AS (
            INSERT INTO ${sql(table)} AS o (${key}, n, is_folded)
              SELECT ${key}, sum(n), true FROM gone GROUP BY ${key} ORDER BY ${key}
            ON CONFLICT (${key}) WHERE is_folded DO UPDATE SET n = o.n + excluded.n
          )
          SELECT count(*)::int AS total FROM gone`
    }
    const folds = [
      foldKinds,
      foldBy("directory_place_counts", ["label_id", "place_id", "tier"]),
      foldBy("directory_word_counts", ["word"])
    ]
    const dropNone = (table: CountTable) => patiently(sql)(sql`DELETE FROM ${sql(table)} WHERE n = 0`)

    /** Takes the changes that came since last time, a part at a time, so that nobody waits long for the rows. */
    const fold = Effect.zipRight(
      Effect.forEach(
        folds,
        (some) => Effect.repeat(patiently(sql)(totalOf(some)), { until: (count) => count < mostFolded }),
        { discard: true }
      ),
      Effect.forEach(["directory_counts", "directory_place_counts", "directory_word_counts"] as const, dropNone, {
        discard: true
      })
    )

    return {
      sumOf,
      counted: (by: Counted) => totalOf(sumOf(by)),
      /** About how many are of a tier or above. */
      among: (tier = 0) =>
        Effect.map(sizes, (rows) => rows.reduce((sum, row) => row.tier >= tier ? sum + row.n : sum, 0)),
      fold
    } as const
  })
}) {}
