import { newUlid } from "#src/shared/ids.ts"
import { Effect } from "effect"
import { CatalogRepo, type ImportedItem } from "./CatalogRepo.ts"
import { ReplacedCatalogsRepo } from "./ReplacedCatalogsRepo.ts"

/**
 * Adds the rows of an import to a business's catalog, and removes them when the import is undone. Both run in the
 * transaction that changes the business (`Businesses.changing`), which has authorized the caller.
 */
export class ImportedCatalog extends Effect.Service<ImportedCatalog>()("businesses/ImportedCatalog", {
  effect: Effect.map(Effect.all([CatalogRepo, ReplacedCatalogsRepo]), ([repo, replaced]) => ({
    /** Empties the catalog for an import, and keeps what was in it until the next such import. */
    setAside: replaced.setAside,
    /** Whether what the import replaced can be restored. */
    isKept: replaced.isKept,
    restore: replaced.restore,
    /** Appends in the given order; items refer to their categories by name. */
    add: Effect.fn("ImportedCatalog.add")(function*(
      businessId: string,
      importId: string,
      { categories, items }: {
        readonly categories: ReadonlyArray<string>
        readonly items: ReadonlyArray<Omit<ImportedItem, "id">>
      }
    ) {
      yield* repo.insertImportedCategories(businessId, importId, categories.map((name) => ({ id: newUlid(), name })))
      yield* repo.insertImportedItems(businessId, importId, items.map((item) => ({ id: newUlid(), ...item })))
    }),
    remove: Effect.fn("ImportedCatalog.takeBack")((importId: string) => repo.removeImported(importId))
  }))
}) {}
