import { BodyTooSlow } from "#http/answers/body-errors.ts"
import { Data } from "#http/answers/envelope.ts"
import { businessPath } from "#http/api/businesses/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { BusinessNotFound } from "#src/businesses/Business.ts"
import { CatalogFull } from "#src/businesses/Catalog.ts"
import {
  Confirmed,
  FileTooLarge,
  ImportBuiltUpon,
  ImportNotFound,
  Preview,
  PreviewExpired,
  PreviewNotFound,
  Reverted,
  TooManyImports,
  TooManyPreviews,
  UnsupportedFormat
} from "#src/imports/Import.ts"
import { ColumnsNotMapped, Mappings } from "#src/imports/Mappings.ts"
import { PlanLimitReached } from "#src/plans/PlanLimitReached.ts"
import { LowDisk } from "#src/shared/Disk.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, Multipart, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const root = "/api/v1/ready/businesses/:businessId/import"

const File = HttpApiSchema.MultipartStream(Schema.Struct({
  file: Multipart.SingleFileSchema,
  mappings: Schema.optionalWith(Mappings, { exact: true })
}))

export class ImportsApi extends HttpApiGroup.make("imports")
  .add(
    HttpApiEndpoint.post("preview", root)
      .setPath(businessPath)
      .setPayload(File)
      .addSuccess(Data(Preview))
      .addError(BusinessNotFound)
      .addError(FileTooLarge)
      .addError(UnsupportedFormat)
      .addError(BadRequest)
      .addError(BodyTooSlow)
      .addError(Invalid)
      .addError(ColumnsNotMapped)
      .addError(TooManyImports)
      .addError(TooManyPreviews)
      .addError(PlanLimitReached)
      .addError(LowDisk)
      .annotate(RouteTraits, { body: "file" })
      .annotate(OpenApi.Summary, "Read a catalog file (JSON 1.0 or CSV) and show what its import would do")
      .annotate(
        OpenApi.Description,
        "One file of at most 10 MB in the field `file`; the end of its name, .json or .csv, decides. Nothing is " +
          "imported yet: confirm within the hour. A business has 20 previews at most that are neither confirmed nor " +
          "discarded (429 limit_exceeded), and the plan limits their bytes (403 plan_limit_reached). What the catalog has " +
          "no room for (5,000 items, 500 categories) is dropped, with the warning limit_truncated. Encoding (UTF-8, " +
          "UTF-16, else guessed, with a warning) and delimiter (comma, semicolon, tab, bar) are found out. An item " +
          "without a name, with a name over 255 characters, or with more cells than the header is skipped " +
          "(format_error); a price, category (over 255) or description (over 5,000) that can't be used is left out " +
          "(field_skipped). In a CSV file a price may be in words: `from 9`, `12-15` (the lower), `$12/hr`, `Free`; what " +
          "was read is a warning (value_coerced). In JSON a price is a number of dollars, and text is none. An amount in " +
          "another currency, by its cell, its column's name or a column Currency, is not a price (field_skipped). " +
          "Rows that may be no items are told too: totals, headings, doubles. Each warning " +
          "shows row, item, field and value. Text that looks like a formula is kept as it is. Columns that are not imported are in `unmapped_columns`; " +
          "those of them that seem to hold a missing field are in `suggested_mappings` too, each with a warning; of columns that may all be the price and differ none is, and " +
          "`price_candidates` names them. A row without a name that has the handle of the item above and a price is a " +
          "variation of it; a draft or hidden item is imported as not available. Send " +
          "what is right of these as the form field `mappings`, a JSON object. 422 for a file without a name says all " +
          "its columns and the same suggestion in `details`. Previews and confirms: 100 a minute by business and IP."
      )
  )
  .add(
    HttpApiEndpoint.post("confirm", `${root}/:previewId/confirm`)
      .setPath(Schema.Struct({ ...businessPath.fields, previewId: Schema.String }))
      .addSuccess(Data(Confirmed))
      .addError(BusinessNotFound)
      .addError(PreviewNotFound)
      .addError(PreviewExpired)
      .addError(CatalogFull)
      .addError(TooManyImports)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Import what a preview shows: all of it or nothing, and once")
      .annotate(
        OpenApi.Description,
        "Items and missing categories are added after those that are there; a JSON file's profile replaces what it " +
          "names. 409 limit_exceeded when the catalog has grown since the preview, beyond 5,000 items or 500 categories: " +
          "import the file again. The preview's id becomes the import's."
      )
  )
  .add(
    HttpApiEndpoint.del("discard", `${root}/:previewId`)
      .setPath(Schema.Struct({ ...businessPath.fields, previewId: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(BusinessNotFound)
      .addError(PreviewNotFound)
      .annotate(OpenApi.Summary, "Discard a preview: it can't be confirmed any more, and makes room for another")
  )
  .add(
    HttpApiEndpoint.post("revert", `${root}/:importId/revert`)
      .setPath(Schema.Struct({ ...businessPath.fields, importId: Schema.String }))
      .addSuccess(Data(Reverted))
      .addError(BusinessNotFound)
      .addError(ImportNotFound)
      .addError(ImportBuiltUpon)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Undo an import that nothing was built upon")
      .annotate(
        OpenApi.Description,
        "Removes its items and categories, puts the profile back, and the catalog that a publication replaced. 409 when its " +
          "items, its categories or what it set of the profile were changed or deleted since, when its categories have " +
          "other items, or when it was reverted already; where it replaced a catalog also when anything was added since, or " +
          "another file has replaced it. Business, listing and server stay, also those that a publication made."
      )
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Imports")
{}
