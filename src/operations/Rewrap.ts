import { Secrets } from "#src/shared/Secrets.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { SecretKeys } from "./SecretKeys.ts"

/** Every column that holds sealed values. A test compares it with the schema's `sealed_` columns. */
export const sealedColumns = [
  { table: "businesses", column: "sealed_integrations" },
  { table: "environment_variables", column: "sealed_value" },
  { table: "idempotency_keys", column: "sealed_response" },
  { table: "signing_keys", column: "sealed_private_jwk" }
] as const

const SealedRow = Schema.Struct({ row: Schema.String, sealed: Schema.String })
const batch = 500

/**
 * Moves every sealed value to the current key (`berth admin rewrap`): after it, `SECRET_KEY_PREVIOUS` is not needed
 * any more. Data keys are wrapped anew, the values stay as they are. Safe beside a running service, which must know the
 * key, and when cut off: a row that changed meanwhile was sealed with the current key by whoever changed it.
 */
export class Rewrap extends Effect.Service<Rewrap>()("operations/Rewrap", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const keys = yield* SecretKeys

    const column = Effect.fn("Rewrap.column")(function*({ column, table }: typeof sealedColumns[number]) {
      const read = SqlSchema.findAll({
        Request: Schema.String,
        Result: SealedRow,
        execute: (after) =>
          sql`SELECT ctid::text AS "row", ${sql(column)} AS sealed FROM ${sql(table)}
              WHERE ${sql(column)} IS NOT NULL AND ctid > ${after}::tid ORDER BY ctid LIMIT ${batch}`
      })
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
        if (last === undefined) return { table, moved }
        after = last.row
      }
    }, dieOnSql)

    return {
      all: keys.checkBeside.pipe(
        Effect.zipRight(Effect.forEach(sealedColumns, column)),
        Effect.zipLeft(keys.forgetOthers)
      )
    } as const
  })
}) {}
