import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { type BusinessRow } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { CatalogFull, mostCategories, mostItems } from "#src/businesses/Catalog.ts"
import { ImportedCatalog } from "#src/businesses/ImportedCatalog.ts"
import { now } from "#src/shared/now.ts"
import { Effect, Option, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"
import { inSpellingsOf } from "./categories.ts"
import {
  type ConfirmedWithLoss,
  ImportBuiltUpon,
  type ImportMode,
  ImportNotFound,
  PreviewExpired,
  PreviewNotFound
} from "./Import.ts"
import { type AuditRow, ImportsRepo } from "./ImportsRepo.ts"
import { categoriesOf, type Plan } from "./plan.ts"
import { Previews } from "./Previews.ts"

/** Imports of a business's catalog and profile: previewed, confirmed once, and revertible until their rows change. */
export class Imports extends Effect.Service<Imports>()("imports/Imports", {
  effect: Effect.gen(function*() {
    const repo = yield* ImportsRepo
    const businesses = yield* Businesses
    const catalog = yield* ImportedCatalog
    const { admitted, discard, examine, preview, receive, sweep } = yield* Previews

    const addCatalog = Effect.fn("Imports.addCatalog")(function*(businessId: string, importId: string, planned: Plan) {
      const existing = yield* repo.categories(businessId)
      const plan = inSpellingsOf(existing, planned)
      const missing = categoriesOf(plan).filter((name) => !existing.has(name))
      const sizes = yield* repo.sizes(businessId)
      // Checked again: the catalog may have grown since the preview.
      if (sizes.items + plan.items.length > mostItems) {
        return yield* new CatalogFull({ what: "items", limit: mostItems })
      }
      if (sizes.categories + missing.length > mostCategories) {
        return yield* new CatalogFull({ what: "categories", limit: mostCategories })
      }
      yield* catalog.add(businessId, importId, { categories: missing, items: plan.items })
      return missing.length
    })

    /** Contract: Import, confirm 1 to 4. Runs in one transaction with the business locked. */
    const write = (previewId: string, mode: ImportMode) =>
      Effect.fn("Imports.write")(function*(row: BusinessRow) {
        const { accountId } = yield* CurrentActor
        const stored = yield* repo.takePreview(row.id, previewId)
        if (Option.isNone(stored)) return yield* new PreviewNotFound()
        const { expiresAt, id, plan, sourceFormat, warningsCount } = stored.value
        const at = yield* now
        if (expiresAt <= at) return yield* new PreviewExpired()
        const { business: after, items, leftOut } = plan
        const before = after === null ? null : Struct.pick(row, ...Struct.keys(after))
        const synced = items.length > 0 ? { catalogSyncedAt: row.catalogSyncedAt ?? at } : {}
        yield* businesses.write(row.id, { ...after, ...synced })
        // A file of a profile alone replaces no catalog.
        const replaced = mode === "replace" && items.length > 0
        if (replaced) yield* catalog.setAside(row.id, id)
        const createdCategories = yield* addCatalog(row.id, id, plan)
        yield* repo.addAudit({
          id,
          businessId: row.id,
          accountId,
          sourceFormat,
          createdItems: items.length,
          createdCategories,
          warningsCount,
          replaced,
          before,
          after,
          confirmedAt: at
        })
        return {
          created_items: items.length,
          warnings_count: warningsCount,
          ...(leftOut === undefined ? {} : { left_out: leftOut })
        } satisfies ConfirmedWithLoss
      })

    const confirm = Effect.fn("Imports.confirm")(
      function*(businessId: string, previewId: string, mode: ImportMode = "add") {
        yield* admitted(businessId)
        return (yield* businesses.changing(businessId, write(previewId, mode))).result
      },
      withPolicy(sessionOnly)
    )

    /** Why an import can't be reverted: what was changed since. Undefined when it can. */
    const builtUpon = Effect.fn("Imports.builtUpon")(function*(row: BusinessRow, audit: AuditRow) {
      if (audit.revertedAt !== null) return "it was reverted already"
      const { categories, items, usedByOthers } = yield* repo.remains(audit.id)
      if (items !== audit.createdItems) return "items of it were changed or deleted since"
      if (categories !== audit.createdCategories) return "categories of it were changed or deleted since"
      if (usedByOthers) return "its categories have other items now"
      if (audit.replaced && !(yield* catalog.isKept(row.id, audit.id))) return "what it replaced is no longer kept"
      if (audit.replaced && (yield* repo.hasOthers(row.id, audit.id))) {
        return "the catalog has other items or categories now"
      }
      const changed = Object.entries(audit.after ?? {}).some(([column, value]) =>
        !isDeepStrictEqual(row[column as keyof BusinessRow], value)
      )
      return changed ? "the profile was changed since" : undefined
    })

    const undo = (importId: string) =>
      Effect.fn("Imports.undo")(function*(row: BusinessRow) {
        const stored = yield* repo.findAudit(row.id, importId)
        if (Option.isNone(stored)) return yield* new ImportNotFound()
        const audit = stored.value
        const reason = yield* builtUpon(row, audit)
        if (reason !== undefined) return yield* new ImportBuiltUpon({ reason })
        yield* catalog.remove(audit.id)
        if (audit.replaced) yield* catalog.restore(row.id, audit.id)
        yield* repo.markReverted(audit.id, yield* now)
        yield* businesses.write(row.id, audit.before ?? {})
        return {
          removed_items: audit.createdItems,
          removed_categories: audit.createdCategories,
          restored_profile: audit.before !== null
        }
      })

    /** Reverts one import whose rows and profile fields are unchanged. Its id is the preview's. */
    const revert = Effect.fn("Imports.revert")(
      (businessId: string, importId: string) =>
        Effect.map(businesses.changing(businessId, undo(importId)), ({ result }) => result),
      withPolicy(sessionOnly)
    )

    return { examine, preview, receive, confirm, discard, revert, sweep } as const
  })
}) {}
