import { anyRow, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Catalogs that an import replaced: one for each business, the last. Writers must hold the lock of the business. */
export class ReplacedCatalogsRepo extends Effect.Service<ReplacedCatalogsRepo>()("businesses/ReplacedCatalogsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    return {
      /** Moves the catalog out of the way of the import. */
      setAside: (businessId: string, importId: string) =>
        run(Effect.all([
          sql`INSERT INTO replaced_catalogs (business_id, import_id, categories, items)
              VALUES (${businessId}, ${importId},
                (SELECT coalesce(jsonb_agg(to_jsonb(c)), '[]') FROM catalog_categories c
                  WHERE business_id = ${businessId}),
                (SELECT coalesce(jsonb_agg(to_jsonb(i)), '[]') FROM catalog_items i WHERE business_id = ${businessId}))
              ON CONFLICT (business_id) DO UPDATE SET import_id = EXCLUDED.import_id,
                categories = EXCLUDED.categories, items = EXCLUDED.items, replaced_at = now()`,
          sql`DELETE FROM catalog_items WHERE business_id = ${businessId}`,
          sql`DELETE FROM catalog_categories WHERE business_id = ${businessId}`
        ])),
      isKept: (businessId: string, importId: string) =>
        anyRow(
          sql`SELECT business_id FROM replaced_catalogs WHERE business_id = ${businessId} AND import_id = ${importId}`
        ),
      /** Brings back what the import replaced. The catalog must be empty. */
      restore: (businessId: string, importId: string) =>
        run(Effect.all([
          sql`INSERT INTO catalog_categories SELECT rows.* FROM replaced_catalogs r,
                jsonb_populate_recordset(NULL::catalog_categories, r.categories) AS rows
              WHERE r.business_id = ${businessId} AND r.import_id = ${importId}`,
          sql`INSERT INTO catalog_items SELECT rows.* FROM replaced_catalogs r,
                jsonb_populate_recordset(NULL::catalog_items, r.items) AS rows
              WHERE r.business_id = ${businessId} AND r.import_id = ${importId}`,
          sql`DELETE FROM replaced_catalogs WHERE business_id = ${businessId} AND import_id = ${importId}`
        ]))
    } as const
  })
}) {}
