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
import { now } from "#src/shared/now.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Clock, Duration, Effect, Option } from "effect"
import { cooperatively } from "./cooperative.ts"
import {
  FileTooLarge,
  ImportId,
  limits,
  type Preview,
  PreviewNotFound,
  TooManyImports,
  TooManyPreviews,
  UnsupportedFormat,
  type Upload
} from "./Import.ts"
import { ImportsRepo, type NewPreview } from "./ImportsRepo.ts"
import { categoriesOf, type Fault, type Plan, type Reading } from "./plan.ts"
import { parserFor, read } from "./read.ts"
import { fitted } from "./room.ts"

const lifetime = Duration.toMillis(limits.lifetime)
const secondsUntil = (then: Date, at: Date) => Math.max(1, Math.ceil((then.getTime() - at.getTime()) / 1000))

const invalid = ({ message, path }: Fault) => Invalid.field(path, message)

/** The file's words, read in turns with other work, by few at a time. */
const reading = Effect.fn("Imports.reading")(function*(upload: Upload) {
  const parse = parserFor(upload.filename)
  if (parse === undefined) return yield* new UnsupportedFormat()
  if (upload.bytes.length > limits.fileBytes) return yield* new FileTooLarge()
  return yield* Effect.mapError(Effect.flatten(cooperatively(() => read(upload, parse))), invalid)
})

/** What files would do to a business's catalog and profile, kept until it is confirmed, discarded or an hour old. */
export class Previews extends Effect.Service<Previews>()("imports/Previews", {
  effect: Effect.gen(function*() {
    const repo = yield* ImportsRepo
    const businesses = yield* Businesses
    const disk = yield* Disk
    const limiter = yield* RateLimit
    const quotas = yield* Quotas
    const sql = yield* SqlClient.SqlClient
    const parsers = yield* Effect.makeSemaphore(2)

    /** Contract: Import, 429 by business and address. The counters being away stops nobody. */
    const admitted = Effect.fn("Imports.admitted")(function*(businessId: string) {
      const row = yield* businesses.visible(businessId)
      const rule = {
        key: `import:${row.id}:${addressBucket(yield* CallerAddress)}`,
        limit: 100,
        window: "1 minute"
      } as const
      const { allowed, retryAfterSeconds } = yield* limiter.consumeOrPass(rule)
      return allowed ? row : yield* new TooManyImports({ retryAfter: retryAfterSeconds })
    })

    /** What the catalog has room for, and which of its names there are already. */
    const fit = Effect.fn("Imports.fit")(function*(businessId: string, { plan, rows, warningsTotal }: Reading) {
      const sizes = yield* repo.sizes(businessId)
      const known = yield* repo.existingCategories(businessId, categoriesOf(plan))
      const room = fitted(plan, { ...sizes, known })
      if (plan.items.length > 0 && room.plan.items.length === 0 && plan.business === null) {
        return yield* Invalid.field(
          "file",
          `can't be imported: ${new CatalogFull({ what: "items", limit: mostItems }).message}`
        )
      }
      const names = [...new Set(room.plan.items.map(({ name }) => name))]
      const existing = yield* repo.existingItems(businessId, names)
      const summary = {
        rows_total: rows,
        importable: room.plan.items.length,
        skipped: rows - room.plan.items.length,
        warnings_total: warningsTotal + room.warnings.length,
        categories_to_create: room.created,
        existing_names: names.filter((name) => existing.has(name))
      }
      return { ...room, summary }
    })

    /** Keeps what a confirm would write, for its hour; of two at once for the last place, one is refused. */
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

    /** The same as `preview` with a file that is taken in only once it is known whose it is. */
    const receive = Effect.fn("Imports.receive")(
      function*<E, R>(businessId: string, file: Effect.Effect<Upload, E, R>) {
        const { id: business } = yield* admitted(businessId)
        yield* disk.check
        const found = yield* parsers.withPermits(1)(reading(yield* file))
        const { plan, summary, warnings } = yield* fit(business, found)
        const { expiresAt, id } = yield* keep({
          businessId: business,
          sourceFormat: found.format,
          warningsCount: summary.warnings_total
        }, plan)
        return {
          preview_id: id,
          source_format: found.format,
          record_count: plan.items.length,
          field_mappings: found.mappings,
          warnings: [...warnings, ...found.warnings],
          expires_at: expiresAt,
          encoding: found.encoding,
          delimiter: found.delimiter,
          unmapped_columns: found.unmapped,
          summary
        } satisfies Preview
      },
      withPolicy(sessionOnly)
    )

    /** Reads a file and keeps what a confirm would write for an hour. */
    const preview = (businessId: string, upload: Upload) => receive(businessId, Effect.succeed(upload))

    /** Drops a preview before its hour is over. */
    const discard = Effect.fn("Imports.discard")(function*(businessId: string, previewId: string) {
      const { id } = yield* businesses.visible(businessId)
      if (Option.isNone(yield* repo.takePreview(id, previewId))) return yield* new PreviewNotFound()
    }, withPolicy(sessionOnly))

    /** Drops previews an hour after they expired: until then a confirm is told that they are. */
    const sweep = Effect.flatMap(Clock.currentTimeMillis, (millis) => repo.sweep(new Date(millis - lifetime))).pipe(
      Effect.withSpan("Imports.sweep")
    )

    return { admitted, preview, receive, discard, sweep } as const
  })
}) {}
