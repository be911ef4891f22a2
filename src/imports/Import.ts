import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { optional, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { type Mappings, PriceCandidates, SourceProgram, SuggestedMappings } from "./Mappings.ts"

/** A confirmed preview becomes the import with the same id. */
export const ImportId = Id("ImportId", "Import id, a ULID; the preview's")

export const SourceFormat = Schema.Literal("ezforge_json", "csv")
export type SourceFormat = typeof SourceFormat.Type

/** What becomes of the catalog that is there: it stays, with the file's items after it, or they take its place. */
export const ImportMode = Schema.Literal("replace", "add")
export type ImportMode = typeof ImportMode.Type

/** Contract: Import; `previews` is our addition. */
export const limits = {
  fileBytes: 10 * 1024 * 1024,
  items: 1000,
  customFields: 20,
  lifetime: "1 hour",
  /** Unconfirmed ones of one business. */
  previews: 20
} as const

/** Contract: Import, warnings. */
export const Warning = Schema.Struct({
  type: Schema.Literal("field_skipped", "value_coerced", "limit_truncated", "format_error"),
  message: Schema.String.annotations({ description: "A full sentence that names the place and the item" }),
  context: optional(Schema.String.annotations({ description: "`row 3, column price`, or `catalog_items[1].price`" }))
})
export type Warning = typeof Warning.Type

export const FieldMapping = Schema.Struct({
  source_field: Schema.String,
  target_field: Schema.String,
  sample_value: optional(Schema.String)
})
export type FieldMapping = typeof FieldMapping.Type

/** As WHATWG Encoding calls them. The last three rows are for files that are not Unicode, and are a guess. */
export const Encoding = Schema.Literal(
  ...["utf-8", "utf-16le", "utf-16be"] as const,
  ...["windows-1252", "macintosh", "windows-1250", "windows-1251", "windows-1253", "windows-1254"] as const,
  ...["windows-1255", "windows-1256", "windows-1257", "windows-874", "iso-8859-2", "koi8-r", "x-mac-cyrillic"] as const,
  ...["shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"] as const
)
export type Encoding = typeof Encoding.Type

const Summary = Schema.Struct({
  rows_total: Schema.Int.annotations({ description: "Rows or items in the file, blank ones not counted" }),
  importable: Schema.Int,
  skipped: Schema.Int,
  warnings_total: Schema.Int.annotations({ description: "Of which `warnings` has the first 1,000" }),
  categories_to_create: Schema.Array(Schema.String),
  existing_names: Schema.Array(Schema.String).annotations({
    description: "Names of items in the file that the catalog has already; a confirm adds them a second time"
  })
})

/** Contract: Import, preview; `encoding` and the fields after it are additions to the contract. */
export const Preview = Schema.Struct({
  preview_id: ImportId,
  source_format: SourceFormat,
  record_count: Schema.Int.annotations({ description: "Items that a confirm would create" }),
  field_mappings: Schema.Array(FieldMapping),
  warnings: Schema.Array(Warning),
  expires_at: Timestamp,
  encoding: Encoding,
  delimiter: Schema.NullOr(Schema.Literal(",", ";", "\t", "|")),
  unmapped_columns: Schema.Array(Schema.String),
  suggested_mappings: SuggestedMappings,
  price_candidates: PriceCandidates,
  source_program: SourceProgram,
  summary: Summary
}).annotations({ title: "ImportPreview" })
export type Preview = typeof Preview.Type

export const Confirmed = Schema.Struct({ created_items: Schema.Int, warnings_count: Schema.Int })

/** With why not all of the file was imported, for who has not seen the preview's warnings. */
export const ConfirmedWithLoss = Schema.Struct({
  ...Confirmed.fields,
  left_out: optional(Schema.Array(Schema.String).annotations({ description: "What limits left out, and why" }))
})
export type ConfirmedWithLoss = typeof ConfirmedWithLoss.Type

const mostNames = 20

/** For an agent, whose context a catalog of names would fill. */
export const BriefPreview = Schema.Struct({
  ...Preview.fields,
  summary: Schema.Struct({
    ...Summary.fields,
    existing_names: Schema.Array(Schema.String).annotations({
      description: `The first ${mostNames} names that the catalog has already; a confirm adds them a second time`
    }),
    existing_names_total: Schema.Int
  })
}).annotations({ title: "BriefImportPreview" })

export const brief = ({ summary, ...preview }: Preview): typeof BriefPreview.Type => ({
  ...preview,
  summary: {
    ...summary,
    existing_names: summary.existing_names.slice(0, mostNames),
    existing_names_total: summary.existing_names.length
  }
})

export const Reverted = Schema.Struct({
  removed_items: Schema.Int,
  removed_categories: Schema.Int,
  restored_profile: Schema.Boolean
})

/** A file as uploaded, and which of its columns hold what. */
export interface Upload {
  readonly mappings?: Mappings
  readonly filename: string
  readonly bytes: Uint8Array
}

/** By the name's ending. */
export const formatOf = (filename: string) =>
  /\.(csv|json)$/i.exec(filename.trim())?.[1]?.toLowerCase() as "csv" | "json" | undefined

export class FileTooLarge
  extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {}, failsWith(413, "FILE_TOO_LARGE"))
{
  override get message() {
    return `The file is larger than ${limits.fileBytes / 1024 / 1024} MB`
  }
}

export class UnsupportedFormat
  extends Schema.TaggedError<UnsupportedFormat>()("UnsupportedFormat", {}, failsWith(422, "UNSUPPORTED_FORMAT"))
{
  override get message() {
    return "The file's name must end in .json or .csv"
  }
}

/** A new preview never evicts another before its hour is over (429). */
export class TooManyPreviews extends Schema.TaggedError<TooManyPreviews>()("TooManyPreviews", {
  retryAfter: Schema.Int
}, failsWith(429, "LIMIT_EXCEEDED")) {
  override get message() {
    return `The business has ${limits.previews} previews that are not confirmed: confirm or discard one, or wait ` +
      `${Math.ceil(this.retryAfter / 60)} minutes until the first of them expires`
  }
  get details() {
    return { limit: limits.previews }
  }
}

export class PreviewNotFound extends Schema.TaggedError<PreviewNotFound>()("PreviewNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such preview, or it was confirmed already"
  }
}

export class PreviewExpired
  extends Schema.TaggedError<PreviewExpired>()("PreviewExpired", {}, failsWith(422, "PREVIEW_EXPIRED"))
{
  override get message() {
    return `The preview is older than ${limits.lifetime}; import the file again`
  }
}

export class ImportNotFound extends Schema.TaggedError<ImportNotFound>()("ImportNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such import"
  }
}

export class ImportBuiltUpon extends Schema.TaggedError<ImportBuiltUpon>()("ImportBuiltUpon", {
  reason: Schema.String
}, failsWith(409)) {
  override get message() {
    return `The import can't be reverted: ${this.reason}`
  }
}

export class TooManyImports extends Schema.TaggedError<TooManyImports>()("TooManyImports", {
  retryAfter: Schema.Int,
  why: Schema.Literal("Too many imports for this business", "Too many files of this account are being read")
}, failsWith(429)) {
  override get message() {
    return `${this.why}; try again in ${this.retryAfter} seconds`
  }
}
