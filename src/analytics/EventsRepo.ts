import { run, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** How often something happened to a listing on a UTC day (`YYYY-MM-DD`). */
export interface EventCount {
  readonly listingId: string
  readonly day: string
  readonly kind: string
  readonly n: number
}

export class EventsRepo extends Effect.Service<EventsRepo>()("analytics/EventsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    // The join drops events of deleted listings. Rows are written in order so that two instances can't deadlock.
    const add = (counts: ReadonlyArray<EventCount>) =>
      sql`WITH fresh AS (
          SELECT l.business_id, l.id, e.day, e.kind, e.n
          FROM json_to_recordset(${JSON.stringify(counts)}::json)
            AS e("listingId" text, day date, kind text, n bigint)
          JOIN listings l ON l.id = e."listingId"
        ), daily AS (
          INSERT INTO listing_events AS o (listing_id, day, kind, n)
            SELECT id, day, kind, n FROM fresh ORDER BY id, day, kind
          ON CONFLICT (listing_id, day, kind) DO UPDATE SET n = o.n + excluded.n
        )
        INSERT INTO business_interactions AS o (business_id, n)
          SELECT business_id, sum(n) FROM fresh GROUP BY business_id ORDER BY business_id
        ON CONFLICT (business_id) DO UPDATE SET n = o.n + excluded.n`

    /** Deletes the events of deleted listings. */
    const forget = sql`WITH deleted AS (DELETE FROM directory_gone RETURNING *),
          events AS (DELETE FROM listing_events WHERE listing_id IN (SELECT listing_id FROM deleted))
        DELETE FROM business_interactions WHERE business_id IN (SELECT business_id FROM deleted)`

    return {
      forget: withLongTimeout(sql)(Effect.asVoid(forget)),
      add: (counts: ReadonlyArray<EventCount>) => run(add(counts))
    } as const
  })
}) {}
