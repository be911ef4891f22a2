import { dieOnSql, many } from "#src/shared/sql.ts"
import { threads } from "#src/shared/threads.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** Names that one statement reads and writes. */
const batch = 200

/** Names in other scripts, written in Latin letters so that they are found by them (docs/decisions/search-rule.md). */
export class RomanisedNames extends Effect.Service<RomanisedNames>()("directory/RomanisedNames", {
  scoped: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const romanise = yield* threads<ReadonlyArray<string>, ReadonlyArray<string>>({
      file: () => new URL("./romanise-thread.js", import.meta.url),
      threads: 1
    })
    const waiting = many(Schema.Struct({ id: Schema.String, name: Schema.String }))(() =>
      sql`SELECT listing_id AS id, name FROM romanised_names WHERE romanised IS NULL ORDER BY listing_id LIMIT ${batch}`
    )

    const foldSome = Effect.gen(function*() {
      const rows = yield* waiting()
      if (rows.length === 0) return 0
      const names = rows.map(({ name }) => name)
      const romanised = yield* Effect.orDie(romanise(names))
      const ids = rows.map(({ id }) => id)
      yield* sql`UPDATE romanised_names r SET romanised = n.romanised
        FROM unnest(${ids}::text[], ${names}::text[], ${romanised}::text[]) AS n (id, name, romanised)
        WHERE r.listing_id = n.id AND r.name = n.name`.pipe(dieOnSql)
      return rows.length
    })

    return {
      /** Writes those that are new or changed. */
      fold: Effect.repeat(foldSome, { until: (taken) => taken < batch })
    } as const
  })
}) {}
