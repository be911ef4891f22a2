import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { CatalogFull, mostItems } from "#src/businesses/Catalog.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { now } from "#src/shared/now.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Clock, Duration, Effect, Option } from "effect"
import { inSpellingsOf } from "./categories.ts"
import { makeFileReader } from "./file-reader.ts"
import {
  ImportId,
  type ImportMode,
  limits,
  type Preview,
  PreviewNotFound,
  TooManyImports,
  TooManyPreviews,
  type Upload
} from "./Import.ts"
import { ImportsRepo, type NewPreview } from "./ImportsRepo.ts"
import { type Plan, type Reading } from "./plan.ts"
import { fitToLimits } from "./room.ts"

const lifetime = Duration.toMillis(limits.lifetime)
const secondsUntil = (then: Date, at: Date) => Math.max(1, Math.ceil((then.getTime() - at.getTime()) / 1000))

/** What an import that replaces the catalog finds. */
const emptyCatalog = {
  items: 0,
  categories: 0,
  existing: new Set<string>(),
  existingCategories: new Set<string>()
}

/** Files of one account that are in hand: one is read, and the others wait for it. */
const mostInHand = 8

/** Previews of imports: what a file would change, kept until it is confirmed, discarded or an hour old. */
export class Previews extends Effect.Service<Previews>()("imports/Previews", {
  scoped: Effect.gen(function*() {
    const repo = yield* ImportsRepo
    const businesses = yield* Businesses
    const disk = yield* Disk
    const limiter = yield* RateLimit
    const quotas = yield* Quotas
    const sql = yield* SqlClient.SqlClient
    const readFile = yield* makeFileReader()
    const inHand = keyedMutex(mostInHand)
    const turn = keyedMutex()

    /** Contract: Import, 429 by business and address. Fails open when the counters are unavailable. */
    const admitted = Effect.fn("Imports.admitted")(function*(businessId: string) {
      const row = yield* businesses.visible(businessId)
      const rule = {
        key: `import:${row.id}:${addressBucket(yield* CallerAddress)}`,
        limit: 100,
        window: "1 minute"
      } as const
      const { allowed, retryAfterSeconds } = yield* limiter.consumeOrPass(rule)
      return allowed ? row : yield* new TooManyImports({
        why: "Too many imports for this business",
        retryAfter: retryAfterSeconds
      })
    })

    /** Receives a file, and reads it when those of the account before it are read. */
    const inTurn = <E, R>(accountId: string, file: Effect.Effect<Upload, E, R>) =>
      Effect.flatMap(
        inHand.ifFree(accountId)(Effect.flatMap(file, (upload) => turn(accountId)(readFile(upload)))),
        Option.match({
          onNone: () => new TooManyImports({ why: "Too many files of this account are being read", retryAfter: 5 }),
          onSome: Effect.succeed
        })
      )

    const catalogOf = Effect.fn("Imports.catalogOf")(function*(businessId: string, plan: Plan) {
      const names = [...new Set(plan.items.map(({ name }) => name))]
      return {
        ...yield* repo.sizes(businessId),
        existingCategories: yield* repo.categories(businessId),
        existing: yield* repo.existingItems(businessId, names)
      }
    })

    /** Truncates the plan to the catalog's limits, and finds the names that the catalog has already. */
    const fit = Effect.fn("Imports.fit")(function*(
      businessId: string,
      { plan, rows, warningsTotal }: Reading,
      mode: ImportMode
    ) {
      const { existing, ...catalog } = mode === "replace" ? emptyCatalog : yield* catalogOf(businessId, plan)
      const fitting = fitToLimits(inSpellingsOf(catalog.existingCategories, plan), catalog)
      if (plan.items.length > 0 && fitting.plan.items.length === 0 && plan.business === null) {
        return yield* Invalid.field(
          "file",
          `can't be imported: ${new CatalogFull({ what: "items", limit: mostItems }).message}`
        )
      }
      const names = [...new Set(fitting.plan.items.map(({ name }) => name))]
      const summary = {
        rows_total: rows,
        importable: fitting.plan.items.length,
        skipped: rows - fitting.plan.items.length,
        warnings_total: warningsTotal + fitting.warnings.length,
        categories_to_create: fitting.created,
        existing_names: names.filter((name) => existing.has(name))
      }
      return { ...fitting, summary }
    })

    /** Stores the plan for an hour. Serialised by the account's lock: of two for the last place, one is refused. */
    const keep = Effect.fn("Imports.keep")(
      function*(row: Pick<NewPreview, "businessId" | "sourceFormat" | "warningsCount">, plan: Plan) {
        const { accountId } = yield* CurrentActor
        const text = JSON.stringify(plan)
        const bytes = Buffer.byteLength(text)
        const at = yield* now
        yield* quotas.admit(
          "previewBytes",
          Effect.zipRight(repo.emptyExpired(accountId, at), repo.previewBytes(accountId)),
          bytes
        )
        const open = yield* repo.openPreviews(row.businessId, at)
        if (open.count >= limits.previews) {
          return yield* new TooManyPreviews({ retryAfter: secondsUntil(open.firstExpiry ?? at, at) })
        }
        const id = ImportId.make(newUlid())
        const expiresAt = new Date(at.getTime() + lifetime)
        yield* repo.addPreview({ ...row, id, expiresAt, plan: text, bytes })
        return { id, expiresAt }
      },
      transactionally(sql)
    )

    /** Stores the preview, and answers beside it what a confirm would lose. Reads the file once the caller is authorized. */
    const examine = Effect.fn("Imports.examine")(
      function*<E, R>(businessId: string, file: Effect.Effect<Upload, E, R>, mode: ImportMode = "add") {
        const { id: business } = yield* admitted(businessId)
        yield* disk.check
        const { accountId } = yield* CurrentActor
        const result = yield* inTurn(accountId, file)
        const { plan, summary, warnings: unfit } = yield* fit(business, result, mode)
        const warnings = [...unfit, ...result.warnings]
        const leftOut = warnings.flatMap(({ message, type }) => type === "limit_truncated" ? [message] : [])
        const { expiresAt, id } = yield* keep({
          businessId: business,
          sourceFormat: result.format,
          warningsCount: summary.warnings_total
        }, leftOut.length === 0 ? plan : { ...plan, leftOut })
        const preview = {
          preview_id: id,
          source_format: result.format,
          record_count: plan.items.length,
          field_mappings: result.mappings,
          warnings,
          expires_at: expiresAt,
          encoding: result.encoding,
          delimiter: result.delimiter,
          unmapped_columns: result.unmapped,
          suggested_mappings: result.suggestion.mappings,
          price_candidates: result.suggestion.undecided,
          source_program: result.suggestion.program,
          summary
        } satisfies Preview
        return { preview, loss: result.loss }
      },
      withPolicy(sessionOnly)
    )

    /** The same as `preview`, of a file that may still be under way. */
    const receive = <E, R>(businessId: string, file: Effect.Effect<Upload, E, R>) =>
      Effect.map(examine(businessId, file), ({ preview }) => preview)

    /** Parses a file and stores for an hour what a confirm would write. */
    const preview = (businessId: string, upload: Upload) => receive(businessId, Effect.succeed(upload))

    /** Deletes a preview before it expires. */
    const discard = Effect.fn("Imports.discard")(function*(businessId: string, previewId: string) {
      const { id } = yield* businesses.visible(businessId)
      if (Option.isNone(yield* repo.takePreview(id, previewId))) return yield* new PreviewNotFound()
    }, withPolicy(sessionOnly))

    /** Deletes previews an hour after they expired; until then a confirm fails with `PreviewExpired`. */
    const sweep = Effect.flatMap(Clock.currentTimeMillis, (millis) => repo.sweep(new Date(millis - lifetime))).pipe(
      Effect.withSpan("Imports.sweep")
    )

    return { admitted, examine, preview, receive, discard, sweep } as const
  })
}) {}
