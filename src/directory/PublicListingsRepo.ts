import { publicColumns } from "#src/listings/Listing.ts"
import { many, maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Detail = Schema.Struct({
  ...publicColumns,
  industry: Schema.String,
  website: Schema.String,
  serverSlug: Schema.NullOr(Schema.String)
})

/** A listing with its linked server, for server metadata and the registry. */
const Served = Schema.Struct({
  ...Detail.fields,
  serverSlug: Schema.String,
  /** Version of the active deployment; null before the first. */
  version: Schema.NullOr(Schema.Int),
  updatedAt: Schema.DateFromSelf,
  profileCompleteness: Schema.Int,
  accountCreatedAt: Schema.DateFromSelf,
  interactionCount: Schema.Int
})
export type Served = typeof Served.Type

interface RegistryPage {
  readonly after: string | undefined
  /** Part of the slug or of the listing's name, in lower case. */
  readonly part: string | undefined
  /** Prefix of the slug, in lower case. */
  readonly begin: string | undefined
  readonly updatedSince: Date | undefined
  readonly version: number | undefined
  readonly count: number
}

/** Reads active listings with their business and server. */
export class PublicListingsRepo extends Effect.Service<PublicListingsRepo>()("directory/PublicListingsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const detail = sql`l.id, l.business_id, l.business_name, l.business_slug, l.name, l.description, l.categories,
      l.tags, l.featured_image_url, l.city, l.state, l.published_at, l.verification_tier, l.relevance_score,
      l.industry, b.website, s.slug AS server_slug`
    const served = sql`SELECT ${detail}, d.version, l.updated_at, l.profile_completeness,
        u.created_at AS account_created_at, coalesce(i.n, 0)::int AS interaction_count
      FROM servers s JOIN businesses b ON b.server_id = s.id
      JOIN listings l ON l.business_id = b.id AND l.status = 'active'
      JOIN projects p ON p.id = b.project_id JOIN users u ON u.id = p.account_id
      LEFT JOIN deployments d ON d.id = s.active_deployment_id
      LEFT JOIN business_interactions i ON i.business_id = b.id`

    return {
      find: maybe(Detail)((id: string) =>
        sql`SELECT ${detail} FROM listings l JOIN businesses b ON b.id = l.business_id
            LEFT JOIN servers s ON s.id = b.server_id WHERE l.id = ${id} AND l.status = 'active'`
      ),
      ofServer: maybe(Served)((slug: string) => sql`${served} WHERE s.slug = ${slug}`),
      /** Deployed servers of the listings that the directory lists first. */
      best: many(Served)((count: number) =>
        sql`${served} JOIN directory_entries e ON e.listing_id = l.id
            WHERE d.version IS NOT NULL ORDER BY e.rank, e.number LIMIT ${count}`
      ),
      registry: many(Served)(({ after, begin, count, part, updatedSince, version }: RegistryPage) =>
        sql`${served} WHERE ${
          sql.and([
            // A server that was never deployed has nothing that answers.
            sql`d.version IS NOT NULL`,
            ...(after === undefined ? [] : [sql`s.slug > ${after}`]),
            ...(part === undefined
              ? []
              : [sql`(position(${part} IN s.slug) > 0 OR position(${part} IN lower(l.name)) > 0)`]),
            ...(begin === undefined ? [] : [sql`starts_with(s.slug, ${begin})`]),
            ...(updatedSince === undefined ? [] : [sql`l.updated_at > ${updatedSince}`]),
            ...(version === undefined ? [] : [sql`d.version = ${version}`])
          ])
        } ORDER BY s.slug LIMIT ${count}`
      )
    } as const
  })
}) {}
