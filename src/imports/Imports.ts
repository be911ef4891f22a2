import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { type BusinessRow } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { CatalogFull, mostCategories, mostItems } from "#src/businesses/Catalog.ts"
import { ImportedCatalog } from "#src/businesses/ImportedCatalog.ts"
import { now } from "#src/shared/now.ts"
import { Effect, Option, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"
import { ImportBuiltUpon, ImportNotFound, PreviewExpired, PreviewNotFound } from "./Import.ts"
import { type AuditRow, ImportsRepo } from "./ImportsRepo.ts"
import { categoriesOf, type Plan } from "./plan.ts"
import { Previews } from "./Previews.ts"

/** Imports of a business's catalog and profile: shown first, confirmed once, reverted while nothing builds on them. */
export class Imports extends Effect.Service<Imports>()("imports/Imports", {
  effect: Effect.gen(function*() {
    const repo = yield* ImportsRepo
    const businesses = yield* Businesses
    const catalog = yield* ImportedCatalog
    const { admitted, discard, preview, receive, sweep } = yield* Previews

    const addCatalog = Effect.fn("Imports.addCatalog")(function*(businessId: string, importId: string, plan: Plan) {
      const named = categoriesOf(plan)
      const known = yield* repo.existingCategories(businessId, named)
      const missing = named.filter((name) => !known.has(name))
      const sizes = yield* repo.sizes(businessId)
      // The preview fitted; the catalog has grown since.
      if (sizes.items + plan.items.length > mostItems) {
        return yield* new CatalogFull({ what: "items", limit: mostItems })
      }
      if (sizes.categories + missing.length > mostCategories) {
        return yield* new CatalogFull({ what: "categories", limit: mostCategories })
      }
      yield* catalog.add(businessId, importId, { categories: missing, items: plan.items })
      return missing.length
    })

    /** Contract: Import, confirm 1 to 4; in one transaction with the business locked. */
    const write = (previewId: string) =>
      Effect.fn("Imports.write")(function*(row: BusinessRow) {
        const { accountId } = yield* CurrentActor
        const taken = yield* repo.takePreview(row.id, previewId)
        if (Option.isNone(taken)) return yield* new PreviewNotFound()
        const { expiresAt, id, plan, sourceFormat, warningsCount } = taken.value
        const at = yield* now
        if (expiresAt <= at) return yield* new PreviewExpired()
        const { business: after, items } = plan
        const before = after === null ? null : Struct.pick(row, ...Struct.keys(after))
        const synced = items.length > 0 ? { catalogSyncedAt: row.catalogSyncedAt ?? at } : {}
        yield* businesses.write(row.id, { ...after, ...synced })
        const createdCategories = yield* addCatalog(row.id, id, plan)
        yield* repo.addAudit({
          id,
          businessId: row.id,
          accountId,
          sourceFormat,
          createdItems: items.length,
          createdCategories,
          warningsCount,
          before,
          after,
          confirmedAt: at
        })
        return { created_items: items.length, warnings_count: warningsCount }
      })

    const confirm = Effect.fn("Imports.confirm")(function*(businessId: string, previewId: string) {
      yield* admitted(businessId)
      return (yield* businesses.changing(businessId, write(previewId))).result
    }, withPolicy(sessionOnly))

    /** What was built on an import since, in words. */
    const builtUpon = Effect.fn("Imports.builtUpon")(function*(row: BusinessRow, made: AuditRow) {
      if (made.revertedAt !== null) return "it was reverted already"
      const { categories, items, usedByOthers } = yield* repo.remains(made.id)
      if (items !== made.createdItems) return "items of it were changed or deleted since"
      if (categories !== made.createdCategories) return "categories of it were changed or deleted since"
      if (usedByOthers) return "its categories have other items now"
      const changed = Object.entries(made.after ?? {}).some(([column, value]) =>
        !isDeepStrictEqual(row[column as keyof BusinessRow], value)
      )
      return changed ? "the profile was changed since" : undefined
    })

    const undo = (importId: string) =>
      Effect.fn("Imports.undo")(function*(row: BusinessRow) {
        const found = yield* repo.findAudit(row.id, importId)
        if (Option.isNone(found)) return yield* new ImportNotFound()
        const made = found.value
        const reason = yield* builtUpon(row, made)
        if (reason !== undefined) return yield* new ImportBuiltUpon({ reason })
        yield* catalog.takeBack(made.id)
        yield* repo.markReverted(made.id, yield* now)
        yield* businesses.write(row.id, made.before ?? {})
        return {
          removed_items: made.createdItems,
          removed_categories: made.createdCategories,
          restored_profile: made.before !== null
        }
      })

    /** Undoes one import that nothing was built upon. Its id is the preview's. */
    const revert = Effect.fn("Imports.revert")(
      (businessId: string, importId: string) =>
        Effect.map(businesses.changing(businessId, undo(importId)), ({ result }) => result),
      withPolicy(sessionOnly)
    )

    return { preview, receive, confirm, discard, revert, sweep } as const
  })
}) {}
