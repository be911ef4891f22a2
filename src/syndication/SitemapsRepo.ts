import { many, maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

const Part = Schema.Struct({ part: Schema.Int }).pipe(Schema.pluck("part"))
const Urls = Schema.Struct({ urls: Schema.NullOr(Schema.String) }).pipe(Schema.pluck("urls"))

export class SitemapsRepo extends Effect.Service<SitemapsRepo>()("syndication/SitemapsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const urls = maybe(Urls)((base: string, from: number, count: number) =>
      sql`SELECT string_agg(format('<url><loc>%s%s</loc><lastmod>%s</lastmod></url>', ${base}::text, business_slug,
              to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')), E'\\n' ORDER BY number) AS urls
          FROM listings WHERE number >= ${from}::bigint AND number < ${from}::bigint + ${count} AND status = 'active'`
    )

    return {
      /** The parts that have a listing which is shown. */
      parts: many(Part)((perPart: number) =>
        sql`SELECT part::int AS part
            FROM generate_series(0, (SELECT max(number) / ${perPart}::int FROM directory_entries)) AS part
            WHERE EXISTS (SELECT FROM directory_entries
              WHERE number >= part * ${perPart}::int AND number < (part + 1)::bigint * ${perPart}::int)
            ORDER BY 1`
      ),
      /** The elements of one part; the database writes them, which saves decoding 50,000 rows. Slugs are DNS labels. */
      urls: (base: string, from: number, count: number) =>
        Effect.map(urls(base, from, count), Option.flatMap(Option.fromNullable))
    } as const
  })
}) {}
