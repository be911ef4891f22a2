import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Secrets } from "./Secrets.ts"
import { dieOnSql, many } from "./sql.ts"

const SealedRow = Schema.Struct({ row: Schema.String, sealed: Schema.String })
const batch = 500

/** A column of sealed values, declared in the folder that owns the table. */
export const sealedColumn = (table: string, column: string) => ({
  table,
  column,
  /**
   * Rewraps every value's data key with the current key; returns the number of rewrapped values. The values themselves
   * are not decrypted. Safe beside a running service: a row that changed meanwhile was sealed by that change.
   */
  rewrap: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const read = many(SealedRow)((after: string) =>
      sql`SELECT ctid::text AS "row", ${sql(column)} AS sealed FROM ${sql(table)}
            WHERE ${sql(column)} IS NOT NULL AND ctid > ${after}::tid ORDER BY ctid LIMIT ${batch}`
    )
    let count = 0
    let after = "(0,0)"
    for (;;) {
      const rows = yield* read(after)
      for (const { row, sealed } of rows.filter(({ sealed }) => secrets.needsRewrap(sealed))) {
        const rewrapped = yield* secrets.rewrap(sealed)
        yield* sql`UPDATE ${sql(table)} SET ${sql(column)} = ${rewrapped}
                   WHERE ctid = ${row}::tid AND ${sql(column)} = ${sealed}`
        count++
      }
      const last = rows.at(-1)
      if (last === undefined) return count
      after = last.row
    }
  }).pipe(dieOnSql, Effect.withSpan("sealedColumn.rewrap", { attributes: { table } }))
})
