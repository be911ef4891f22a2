import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { type BusinessRow } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { mostCategories, mostItems } from "#src/businesses/Catalog.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { Clock, Duration, Effect, Option, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"
import { cooperatively } from "./cooperative.ts"
import {
  FileTooLarge,
  ImportBuiltUpon,
  ImportId,
  ImportNotFound,
  limits,
  type Preview,
  PreviewExpired,
  PreviewNotFound,
  TooManyImports,
  UnsupportedFormat,
  type Upload
} from "./Import.ts"
import { type AuditRow, ImportsRepo } from "./ImportsRepo.ts"
import { categoriesOf, type Fault, type Plan, type Reading } from "./plan.ts"
import { parserFor, read } from "./read.ts"

const lifetime = Duration.toMillis(limits.lifetime)

const invalid = ({ message, path }: Fault) => Invalid.field(path, message)

/** The file's words, read in turns with other work, by few at a time. */
const reading = Effect.fn("Imports.reading")(function*(upload: Upload) {
  const parse = parserFor(upload.filename)
  if (parse === undefined) return yield* new UnsupportedFormat()
  if (upload.bytes.length > limits.fileBytes) return yield* new FileTooLarge()
  return yield* Effect.mapError(Effect.flatten(cooperatively(() => read(upload, parse))), invalid)
})

/** Imports of a business's catalog and profile: shown first, confirmed once, reverted while nothing builds on them. */
export class Imports extends Effect.Service<Imports>()("imports/Imports", {
  effect: Effect.gen(function*() {
    const repo = yield* ImportsRepo
    const businesses = yield* Businesses
    const limiter = yield* RateLimit
    const parsers = yield* Effect.makeSemaphore(2)

    /** Contract: "free-tier limit keyed to business id plus caller IP". The counters being away stops nobody. */
    const admitted = Effect.fn("Imports.admitted")(function*(businessId: string, address: string) {
      const row = yield* businesses.visible(businessId)
      const rule = { key: `import:${row.id}:${addressBucket(address)}`, limit: 100, window: "1 minute" } as const
      const { allowed, retryAfterSeconds } = yield* Effect.orElseSucceed(
        limiter.consume(rule),
        () => ({ allowed: true, retryAfterSeconds: 0 })
      )
      return allowed ? row : yield* new TooManyImports({ retryAfter: retryAfterSeconds })
    })

    const summary = Effect.fn("Imports.summary")(function*(businessId: string, { plan, rows, warningsTotal }: Reading) {
      const names = [...new Set(plan.items.map(({ name }) => name))]
      const categories = categoriesOf(plan)
      const existing = yield* repo.existingItems(businessId, names)
      const known = yield* repo.existingCategories(businessId, categories)
      return {
        rows_total: rows,
        importable: plan.items.length,
        skipped: rows - plan.items.length,
        warnings_total: warningsTotal,
        categories_to_create: categories.filter((name) => !known.has(name)),
        existing_names: names.filter((name) => existing.has(name))
      }
    })

    /** The same as `preview` with a file that is taken in only once it is known whose it is. */
    const receive = Effect.fn("Imports.receive")(
      function*<E, R>(businessId: string, file: Effect.Effect<Upload, E, R>, address: string) {
        const { id } = yield* admitted(businessId, address)
        const found = yield* parsers.withPermits(1)(reading(yield* file))
        const previewId = ImportId.make(newUlid())
        const expiresAt = new Date((yield* Clock.currentTimeMillis) + lifetime)
        const { format: sourceFormat, plan, warningsTotal: warningsCount } = found
        const told = yield* summary(id, found)
        const row = { id: previewId, businessId: id, sourceFormat, warningsCount, expiresAt }
        yield* repo.savePreview(row, plan, limits.previews)
        return {
          preview_id: previewId,
          source_format: sourceFormat,
          record_count: plan.items.length,
          field_mappings: found.mappings,
          warnings: found.warnings,
          expires_at: expiresAt,
          encoding: found.encoding,
          delimiter: found.delimiter,
          unmapped_columns: found.unmapped,
          summary: told
        } satisfies Preview
      },
      withPolicy(sessionOnly)
    )

    /** Reads a file and keeps what a confirm would write for an hour. `address` is the caller's, for the limit. */
    const preview = (businessId: string, upload: Upload, address: string) =>
      receive(businessId, Effect.succeed(upload), address)

    const addCatalog = Effect.fn("Imports.addCatalog")(function*(businessId: string, importId: string, plan: Plan) {
      const named = categoriesOf(plan)
      const known = yield* repo.existingCategories(businessId, named)
      const missing = named.filter((name) => !known.has(name))
      const sizes = yield* repo.sizes(businessId)
      if (sizes.items + plan.items.length > mostItems) {
        return yield* Invalid.field("", `the catalog would have more than ${mostItems} items`)
      }
      if (sizes.categories + missing.length > mostCategories) {
        return yield* Invalid.field("", `the catalog would have more than ${mostCategories} categories`)
      }
      yield* repo.addCategories(businessId, importId, missing.map((name) => ({ id: newUlid(), name })))
      yield* repo.addItems(businessId, importId, plan.items.map((item) => ({ id: newUlid(), ...item })))
      return missing.length
    })

    /** Contract: "Confirm effects", in one transaction with the business locked. */
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

    const confirm = Effect.fn("Imports.confirm")(function*(businessId: string, previewId: string, address: string) {
      yield* admitted(businessId, address)
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
        yield* repo.takeBack(made.id, yield* now)
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

    /** Drops previews an hour after they expired: until then a confirm is told that they are. */
    const sweep = Effect.flatMap(Clock.currentTimeMillis, (millis) => repo.sweep(new Date(millis - lifetime))).pipe(
      Effect.withSpan("Imports.sweep")
    )

    return { preview, receive, confirm, revert, sweep } as const
  })
}) {}
