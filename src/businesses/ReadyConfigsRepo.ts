import { type Catalog } from "#src/format/ReadyConfig.ts"
import { maybe } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { BusinessRow } from "./Business.ts"

/** The database builds this JSON in the shape of the configuration, which saves decoding up to 5,000 item rows here. */
const StoredCatalog = Schema.declare((value): value is Catalog => typeof value === "object" && value !== null)

const Source = Schema.Struct({
  ...BusinessRow.pick(
    "id",
    "serverId",
    "name",
    "description",
    "category",
    "industry",
    "templateType",
    "phone",
    "email",
    "website",
    "line1",
    "city",
    "state",
    "zip",
    "country",
    "latitude",
    "longitude",
    "customFields",
    "hours",
    "featureFlags",
    "analytics",
    "sealedIntegrations"
  ).fields,
  catalog: Schema.NullOr(StoredCatalog)
})
/** All data of a configuration; the catalog is null until the business had its first one. */
export type Source = typeof Source.Type

/** Reads the data of a configuration in one query. */
export class ReadyConfigsRepo extends Effect.Service<ReadyConfigsRepo>()("businesses/ReadyConfigsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const categories = sql`(
      SELECT coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'sortOrder', c.sort_order)
        ORDER BY c.sort_order, c.id), '[]')
      FROM catalog_categories c WHERE c.business_id = b.id)`
    const items = sql`(
      SELECT coalesce(json_agg(json_build_object('id', i.id, 'name', i.name, 'description', i.description,
        'categoryId', i.category_id, 'priceCents', i.price_cents, 'priceType', i.price_type,
        'isAvailable', i.is_available, 'metadata', i.metadata) ORDER BY i.sort_order, i.id), '[]')
      FROM catalog_items i WHERE i.business_id = b.id)`
    const source = (where: (id: string) => Statement.Fragment) =>
      maybe(Source)((id: string) =>
        sql`SELECT b.*, CASE WHEN b.catalog_synced_at IS NOT NULL
                THEN json_build_object('categories', ${categories}, 'items', ${items}) END AS catalog
              FROM businesses b WHERE ${where(id)}`
      )

    return {
      ofBusiness: source((id) => sql`b.id = ${id}`),
      /** The business that the server is linked to. */
      ofServer: source((id) => sql`b.server_id = ${id}`)
    } as const
  })
}) {}
