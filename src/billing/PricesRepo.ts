import { many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** Ids of the processor's prices that are or were in the settings. */
export class PricesRepo extends Effect.Service<PricesRepo>()("billing/PricesRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const all = many(Schema.Struct({ id: Schema.String }))(() => sql`SELECT id FROM payment_prices`)
    return {
      /** Stores these, and returns all that were ever stored. */
      note: (prices: ReadonlyArray<string>) =>
        run(sql`INSERT INTO payment_prices ${sql.insert(prices.map((id) => ({ id })))} ON CONFLICT DO NOTHING`).pipe(
          Effect.zipRight(all()),
          Effect.map((rows): ReadonlySet<string> => new Set(rows.map(({ id }) => id)))
        )
    } as const
  })
}) {}
