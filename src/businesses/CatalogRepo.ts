import { dieOnSql, onUnique } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { CategoryNameTaken, CategoryRow, ItemRow } from "./Catalog.ts"

type Fields = Readonly<Record<string, unknown>>
export type Table = "catalog_items" | "catalog_categories"

const Place = Schema.Struct({ count: Schema.Int, end: Schema.Int })

/** Rows of a business's catalog. What writes holds the lock of the business. */
export class CatalogRepo extends Effect.Service<CatalogRepo>()("businesses/CatalogRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const items = SqlSchema.findAll({
      Request: Schema.String,
      Result: ItemRow,
      execute: (id) => sql`SELECT * FROM catalog_items WHERE business_id = ${id} ORDER BY sort_order, id`
    })
    const categories = SqlSchema.findAll({
      Request: Schema.String,
      Result: CategoryRow,
      execute: (id) => sql`SELECT * FROM catalog_categories WHERE business_id = ${id} ORDER BY sort_order, id`
    })
    const place = (table: Table) =>
      SqlSchema.single({
        Request: Schema.String,
        Result: Place,
        execute: (id) =>
          sql`SELECT count(*)::int AS count, coalesce(max(sort_order) + 1, 0) AS end
              FROM ${sql(table)} WHERE business_id = ${id}`
      })
    const places = { catalog_items: place("catalog_items"), catalog_categories: place("catalog_categories") }

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
    const taken = onUnique("catalog_categories_business_id_name_key", () => new CategoryNameTaken())

    const remove = (table: Table, businessId: string, id: string) =>
      sql`DELETE FROM ${sql(table)} WHERE business_id = ${businessId} AND id = ${id} RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        dieOnSql
      )

    const has = (table: Table, businessId: string, id: string) =>
      sql`SELECT id FROM ${sql(table)} WHERE business_id = ${businessId} AND id = ${id}`.pipe(
        Effect.map((rows) => rows.length > 0),
        dieOnSql
      )

    /** Makes room at a place that is taken by another row: that one and all after it move on by one. */
    const makeRoom = (table: Table, businessId: string, at: number, forId: string) =>
      dieOnSql(Effect.asVoid(
        sql`UPDATE ${sql(table)} SET sort_order = sort_order + 1
            WHERE business_id = ${businessId} AND sort_order >= ${at} AND id <> ${forId}
              AND EXISTS (SELECT FROM ${sql(table)}
                WHERE business_id = ${businessId} AND sort_order = ${at} AND id <> ${forId})`
      ))

    return {
      items: (businessId: string) => dieOnSql(items(businessId)),
      categories: (businessId: string) => dieOnSql(categories(businessId)),
      /** How many there are, and the place after the last. */
      place: (table: Table, businessId: string) => dieOnSql(places[table](businessId)),
      makeRoom,
      insertItem: (row: Fields) => dieOnSql(insertItem(row)),
      insertCategory: (row: Fields) => dieOnSql(taken(insertCategory(row))),
      updateItem: (businessId: string, id: string, fields: Fields) => dieOnSql(updateItem({ businessId, id, fields })),
      updateCategory: (businessId: string, id: string, fields: Fields) =>
        dieOnSql(taken(updateCategory({ businessId, id, fields }))),
      has,
      remove,
      /** From its first category or item on a business has a catalog, empty as it may become. */
      published: (businessId: string) =>
        dieOnSql(Effect.asVoid(
          sql`UPDATE businesses SET catalog_synced_at = now() WHERE id = ${businessId} AND catalog_synced_at IS NULL`
        ))
    } as const
  })
}) {}
