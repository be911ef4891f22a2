import { type Catalog } from "#src/format/ReadyConfig.ts"
import { maybe } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { BusinessRow } from "./Business.ts"

/** The database writes it, in the shape of the configuration: 5,000 items need not be rows here first. */
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
/** All that a configuration is made of; the catalog is null before there was one. */
export type Source = typeof Source.Type

/** What configurations are made of, in one query. */
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
      /** Of the business that the server speaks for. */
      ofServer: source((id) => sql`b.server_id = ${id}`)
    } as const
  })
}) {}
