import { Hours, TemplateType } from "#src/format/ReadyConfig.ts"
import { anyRow, dieOnSql, many, one, run, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type Position } from "./changes-token.ts"

/** Numbers of transactions (xid8) come as text. */
const Xid = Schema.BigInt

const change = { id: Schema.String, slug: Schema.String, xid: Xid }

const Removed = Schema.Struct({ ...change, businessId: Schema.Null, removedAt: Schema.NullOr(Schema.DateFromSelf) })

const Listed = Schema.Struct({
  ...change,
  businessId: Schema.String,
  name: Schema.String,
  description: Schema.String,
  categories: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  templateType: TemplateType,
  industry: Schema.String,
  line1: Schema.String,
  city: Schema.String,
  state: Schema.String,
  zip: Schema.String,
  country: Schema.String,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  isPlaceApproximate: Schema.Boolean,
  phone: Schema.String,
  website: Schema.String,
  featuredImageUrl: Schema.String,
  hours: Hours,
  verificationTier: Schema.Int,
  serverSlug: Schema.NullOr(Schema.String),
  publishedAt: Schema.NullOr(Schema.DateFromSelf),
  updatedAt: Schema.DateFromSelf
})
export type ListedRow = typeof Listed.Type

const Change = Schema.Union(Listed, Removed)

const State = Schema.Struct({ cluster: Schema.String, horizon: Xid, forgotten: Xid })

/** Removals are remembered for so long. */
const keptDays = 90

/** What changed in the directory, by transactions (docs/decisions/business-feed.md). */
export class BusinessFeedRepo extends Effect.Service<BusinessFeedRepo>()("syndication/BusinessFeedRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** Another one after a restore from a backup: transactions are numbered anew there. */
    const cluster = sql`(SELECT left(md5(concat_ws(' ', system_identifier, d.oid, 'feed_changes'::regclass::oid)), 16)
      FROM pg_control_system(), pg_database d WHERE d.datname = current_database())`

    /** Numbers the rows of another cluster anew, as if all had changed now. */
    const settle = Effect.gen(function*() {
      yield* sql`INSERT INTO feed_state (cluster) VALUES (${cluster}) ON CONFLICT (id) DO NOTHING`
      const moved = yield* anyRow(
        sql`UPDATE feed_state SET cluster = ${cluster}, forgotten = '0' WHERE cluster <> ${cluster} RETURNING id`
      )
      if (moved) yield* sql`UPDATE feed_changes SET xid = pg_current_xact_id()`
    })

    return {
      settle: dieOnSql(withLongTimeout(sql)(settle)),
      /** `horizon`: every transaction before it has ended, and what it wrote is seen from now on. */
      state: one(State)(() =>
        sql`SELECT cluster, pg_snapshot_xmin(pg_current_snapshot())::text AS horizon, forgotten::text AS forgotten
            FROM feed_state`
      ),
      /** The changes after a position and before a horizon, in order; a listing that is shown as it is now. */
      changes: many(Change)(({ id, since, xid }: Position, horizon: bigint, count: number) =>
        sql`SELECT f.listing_id AS id, f.slug, f.xid::text AS xid, f.removed_at, l.business_id, l.name, l.description,
              l.categories, l.tags, l.template_type, l.industry, b.line1, l.city, l.state, b.zip, b.country,
              l.latitude, l.longitude, l.is_place_approximate, b.phone, b.website, l.featured_image_url, b.hours,
              l.verification_tier, s.slug AS server_slug, l.published_at, l.updated_at
            FROM (
              SELECT * FROM feed_changes
              WHERE (xid, listing_id) > (${String(xid)}::xid8, ${id}) AND xid < ${String(horizon)}::xid8
                AND (removed_at IS NULL OR xid >= ${String(since)}::xid8)
              ORDER BY xid, listing_id LIMIT ${count}
            ) f
            LEFT JOIN (listings l JOIN businesses b ON b.id = l.business_id)
              ON l.id = f.listing_id AND l.status = 'active' AND l.agent_access
            LEFT JOIN servers s ON s.id = b.server_id
            ORDER BY f.xid, f.listing_id`
      ),
      /** Forgets old removals, and remembers up to which transaction. */
      forget: run(
        sql`WITH gone AS (
              DELETE FROM feed_changes WHERE removed_at < now() - make_interval(days => ${keptDays}) RETURNING xid
            ), latest AS (SELECT xid FROM gone ORDER BY xid DESC LIMIT 1)
            UPDATE feed_state SET forgotten = greatest(forgotten, (SELECT xid FROM latest))
            WHERE EXISTS (SELECT FROM latest)`
      )
    } as const
  })
}) {}
