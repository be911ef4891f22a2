import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Secrets } from "./Secrets.ts"
import { dieOnSql, many } from "./sql.ts"

const SealedRow = Schema.Struct({ row: Schema.String, sealed: Schema.String })
const batch = 500

/** A column of sealed values, named by the room whose table it is in. */
export const sealedColumn = (table: string, column: string) => ({
  table,
  column,
  /**
   * Moves every value to the current key, and tells how many there were. Data keys are wrapped anew, the values stay as
   * they are. Safe beside a running service: a row that changed meanwhile was sealed by whoever changed it.
   */
  rewrap: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const read = many(SealedRow)((after: string) =>
      sql`SELECT ctid::text AS "row", ${sql(column)} AS sealed FROM ${sql(table)}
            WHERE ${sql(column)} IS NOT NULL AND ctid > ${after}::tid ORDER BY ctid LIMIT ${batch}`
    )
    let moved = 0
    let after = "(0,0)"
    for (;;) {
      const rows = yield* read(after)
      for (const { row, sealed } of rows.filter(({ sealed }) => secrets.needsRewrap(sealed))) {
        const rewrapped = yield* secrets.rewrap(sealed)
        yield* sql`UPDATE ${sql(table)} SET ${sql(column)} = ${rewrapped}
                   WHERE ctid = ${row}::tid AND ${sql(column)} = ${sealed}`
        moved++
      }
      const last = rows.at(-1)
      if (last === undefined) return moved
      after = last.row
    }
  }).pipe(dieOnSql, Effect.withSpan("sealedColumn.rewrap", { attributes: { table } }))
})
