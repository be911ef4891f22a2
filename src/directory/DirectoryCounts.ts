import { dieOnSql, many, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"

/** The filters for which listings are counted in advance. */
export interface CountKey {
  readonly category: string | undefined
  readonly kind: string | undefined
  readonly tier: number | undefined
}

const OfTier = Schema.Struct({ tier: Schema.Int, n: Schema.Int })
const Total = Schema.Struct({ total: Schema.Int })

/** Decodes the total of a statement. */
const decodeTotal = Schema.decodeUnknown(Schema.Tuple(Total))

/** Runs a statement that returns one row with a total. */
export const totalOf = (counting: Statement.Statement<unknown>) =>
  counting.pipe(
    Effect.flatMap(decodeTotal),
    Effect.map(([{ total }]) => total),
    dieOnSql
  )

const foldBatch = 50_000

type CountTable = "directory_counts" | "directory_place_counts" | "directory_word_counts"

/** Counts of listings by their properties, kept in tables so that the listings need not be scanned (migration 0005). */
export class DirectoryCounts extends Effect.Service<DirectoryCounts>()("directory/DirectoryCounts", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** The statement that counts in all places, or in the states that match a condition on `state`. */
    const sumOf = ({ category = "", kind, tier }: CountKey, states = sql`state IS NULL`) =>
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
    // A failure must not be cached.
    const sizes = Effect.tapErrorCause(cached, () => forget)

    // Each folds a batch of changes into the rows of their counts, and returns how many there were.
    const foldKinds = sql`WITH changes AS (SELECT ctid FROM directory_counts WHERE folded IS NULL LIMIT ${foldBatch}),
          deleted AS (DELETE FROM directory_counts WHERE ctid = ANY(ARRAY(SELECT ctid FROM changes)) RETURNING *),
          added AS (
            INSERT INTO directory_counts
              SELECT category, template_type, industry, tier, state, sum(n),
                md5(concat_ws(chr(1), category, template_type, industry, tier, ' ' || state))::uuid AS folded
              FROM deleted GROUP BY category, template_type, industry, tier, state ORDER BY folded
            ON CONFLICT (folded) DO UPDATE SET n = directory_counts.n + excluded.n
          )
          SELECT count(*)::int AS total FROM deleted`
    const foldBy = (table: CountTable, columns: ReadonlyArray<string>) => {
      const key = sql.join(", ", false)(columns.map((column) => sql`${sql(column)}`))
      return sql`WITH changes AS (SELECT ctid FROM ${sql(table)} WHERE NOT is_folded LIMIT ${foldBatch}),
          deleted AS (DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(SELECT ctid FROM changes)) RETURNING *),
          added AS (
            INSERT INTO ${sql(table)} AS o (${key}, n, is_folded)
              SELECT ${key}, sum(n), true FROM deleted GROUP BY ${key} ORDER BY ${key}
            ON CONFLICT (${key}) WHERE is_folded DO UPDATE SET n = o.n + excluded.n
          )
          SELECT count(*)::int AS total FROM deleted`
    }
    const folds = [
      foldKinds,
      foldBy("directory_place_counts", ["label_id", "place_id", "tier"]),
      foldBy("directory_word_counts", ["word"])
    ]
    const deleteZeros = (table: CountTable) => withLongTimeout(sql)(sql`DELETE FROM ${sql(table)} WHERE n = 0`)

    /** Folds the changes since the last call, in batches, so that row locks are short. */
    const fold = Effect.zipRight(
      Effect.forEach(
        folds,
        (statement) => Effect.repeat(withLongTimeout(sql)(totalOf(statement)), { until: (count) => count < foldBatch }),
        { discard: true }
      ),
      Effect.forEach(["directory_counts", "directory_place_counts", "directory_word_counts"] as const, deleteZeros, {
        discard: true
      })
    )

    return {
      sumOf,
      counted: (by: CountKey) => totalOf(sumOf(by)),
      /** Approximate number of listings of a tier or above; cached for a minute. */
      approximateCount: (tier = 0) =>
        Effect.map(sizes, (rows) => rows.reduce((sum, row) => row.tier >= tier ? sum + row.n : sum, 0)),
      fold
    } as const
  })
}) {}
