import { anyRow, dieOnSql, many, one, onUnique, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { CategoryNameTaken, CategoryRow, ItemRow } from "./Catalog.ts"

type Fields = Readonly<Record<string, unknown>>
export type Table = "catalog_items" | "catalog_categories"

/** An item of an import; it names its category. */
export interface ImportedItem {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly itemType: string
  readonly priceCents: number | null
  readonly priceType: string
  readonly category: string | null
  /** True without it. */
  readonly isAvailable?: boolean | undefined
}

const Place = Schema.Struct({ count: Schema.Int, end: Schema.Int })

/** Rows of a business's catalog. Writers must hold the lock of the business. */
export class CatalogRepo extends Effect.Service<CatalogRepo>()("businesses/CatalogRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const stored = (fields: Fields) =>
      "metadata" in fields ? { ...fields, metadata: pg.json(fields["metadata"]) } : fields

    const insert = <A, I extends object>(table: Table, Result: Schema.Schema<A, I>) =>
      SqlSchema.single({
        Request: Schema.Object,
        Result,
        execute: (row) => sql`INSERT INTO ${sql(table)} ${sql.insert(stored(row as Fields))} RETURNING *`
      })
    const update = <A, I extends object>(table: Table, Result: Schema.Schema<A, I>) =>
      SqlSchema.findOne({
        Request: Schema.Struct({ businessId: Schema.String, id: Schema.String, fields: Schema.Object }),
        Result,
        execute: ({ businessId, fields, id }) =>
          sql`UPDATE ${sql(table)} SET ${sql.update(stored({ ...fields, id }))}, updated_at = now()
              WHERE business_id = ${businessId} AND id = ${id} RETURNING *`
      })
    const insertItem = insert("catalog_items", ItemRow)
    const insertCategory = insert("catalog_categories", CategoryRow)
    const updateItem = update("catalog_items", ItemRow)
    const updateCategory = update("catalog_categories", CategoryRow)
    const failIfNameTaken = onUnique("catalog_categories_business_id_name_key", () => new CategoryNameTaken())

    const remove = (table: Table, businessId: string, id: string) =>
      anyRow(sql`DELETE FROM ${sql(table)} WHERE business_id = ${businessId} AND id = ${id} RETURNING id`)

    const has = (table: Table, businessId: string, id: string) =>
      anyRow(sql`SELECT id FROM ${sql(table)} WHERE business_id = ${businessId} AND id = ${id}`)

    /** Makes room at a place that another row has: moves that row and all after it on by one. */
    const makeRoom = (table: Table, businessId: string, at: number, forId: string) =>
      run(
        sql`UPDATE ${sql(table)} SET sort_order = sort_order + 1
            WHERE business_id = ${businessId} AND sort_order >= ${at} AND id <> ${forId}
              AND EXISTS (SELECT FROM ${sql(table)}
                WHERE business_id = ${businessId} AND sort_order = ${at} AND id <> ${forId})`
      )

    const insertImportedCategories = (
      businessId: string,
      importId: string,
      rows: ReadonlyArray<Pick<ImportedItem, "id" | "name">>
    ) =>
      sql`INSERT INTO catalog_categories (id, business_id, name, sort_order, import_id)
          SELECT imported.id, ${businessId}, imported.name, last.sort_order + place, ${importId}
          FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (id text, name text)) WITH ORDINALITY
              AS imported (id, name, place),
            (SELECT coalesce(max(sort_order), -1) AS sort_order FROM catalog_categories
              WHERE business_id = ${businessId}) AS last`

    const insertImportedItems = (businessId: string, importId: string, rows: ReadonlyArray<ImportedItem>) =>
      sql`INSERT INTO catalog_items (id, business_id, category_id, name, description, item_type, price_cents,
            price_type, is_available, sort_order, import_id)
          SELECT imported.id, ${businessId}, c.id, imported.name, imported.description, imported.item_type,
            imported.price_cents, imported.price_type, coalesce(imported.is_available, true),
            last.sort_order + place, ${importId}
          FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (id text, name text, description text,
              "itemType" text, "priceCents" integer, "priceType" text, category text,
              "isAvailable" boolean)) WITH ORDINALITY
              AS imported (id, name, description, item_type, price_cents, price_type, category, is_available, place)
            CROSS JOIN (SELECT coalesce(max(sort_order), -1) AS sort_order FROM catalog_items
              WHERE business_id = ${businessId}) AS last
            LEFT JOIN catalog_categories c ON c.business_id = ${businessId} AND c.name = imported.category`

    return {
      items: many(ItemRow)((businessId: string) =>
        sql`SELECT * FROM catalog_items WHERE business_id = ${businessId} ORDER BY sort_order, id`
      ),
      /** Those after an item, by its place and id. */
      itemsAfter: many(ItemRow)((businessId: string, after: readonly [number, string] | undefined, count: number) =>
        sql`SELECT * FROM catalog_items WHERE business_id = ${businessId}
              ${after === undefined ? sql`` : sql`AND (sort_order, id) > (${after[0]}, ${after[1]})`}
            ORDER BY sort_order, id LIMIT ${count}`
      ),
      categories: many(CategoryRow)((businessId: string) =>
        sql`SELECT * FROM catalog_categories WHERE business_id = ${businessId} ORDER BY sort_order, id`
      ),
      /** How many there are, and the place after the last. */
      place: one(Place)((table: Table, businessId: string) =>
        sql`SELECT count(*)::int AS count, coalesce(max(sort_order) + 1, 0) AS end
              FROM ${sql(table)} WHERE business_id = ${businessId}`
      ),
      makeRoom,
      insertItem: (row: Fields) => dieOnSql(insertItem(row)),
      insertCategory: (row: Fields) => dieOnSql(failIfNameTaken(insertCategory(row))),
      updateItem: (businessId: string, id: string, fields: Fields) => dieOnSql(updateItem({ businessId, id, fields })),
      updateCategory: (businessId: string, id: string, fields: Fields) =>
        dieOnSql(failIfNameTaken(updateCategory({ businessId, id, fields }))),
      has,
      remove,
      insertImportedCategories: (...args: Parameters<typeof insertImportedCategories>) =>
        run(insertImportedCategories(...args)),
      insertImportedItems: (...args: Parameters<typeof insertImportedItems>) => run(insertImportedItems(...args)),
      removeImported: (importId: string) =>
        run(Effect.all([
          sql`DELETE FROM catalog_items WHERE import_id = ${importId}`,
          sql`DELETE FROM catalog_categories WHERE import_id = ${importId}`
        ])),
      /** Records that the business has a catalog, from the first row on; it keeps it when all rows are deleted. */
      published: (businessId: string) =>
        run(
          sql`UPDATE businesses SET catalog_synced_at = now() WHERE id = ${businessId} AND catalog_synced_at IS NULL`
        )
    } as const
  })
}) {}
