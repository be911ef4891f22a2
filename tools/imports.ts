import { brief, BriefPreview, ConfirmedWithLoss, Reverted } from "#src/imports/Import.ts"
import { Imports } from "#src/imports/Imports.ts"
import { Mappings } from "#src/imports/Mappings.ts"
import { Input, optional } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const businessId = { businessId: Schema.String }
const directory = { toolset: "directory", needs: "session", lowerCaseCodes: true } as const

export const importTools = Effect.map(Imports, (imports) => [
  tool({
    ...directory,
    name: "import",
    title: "Import a catalog",
    description: "Reads a catalog (CSV or JSON 1.0) and shows what its import would do: mappings, warnings, what is " +
      "skipped. Nothing is imported yet; import_confirm does it within the hour. When suggested_mappings is not empty, " +
      "a column would be lost: check it with the user, and call again with mappings; ask which of price_candidates customers pay. content is the file's text, up to " +
      "about 900 KB; larger files are uploaded over HTTP.",
    effect: "create",
    params: Input({
      ...businessId,
      filename: Schema.String.annotations({ description: "Ends in .csv or .json, which decides" }),
      content: Schema.String.annotations({
        description: "A CSV file begins with its columns: name (required), description, price (dollars), price_type, " +
          "item_type, category. In JSON a price is a number of dollars; words such as `from 9` are for CSV only"
      }),
      mappings: optional(Mappings)
    }),
    success: BriefPreview,
    run: ({ businessId, content, ...file }) =>
      Effect.map(imports.preview(businessId, { ...file, bytes: Buffer.from(content) }), brief)
  }),
  tool({
    ...directory,
    name: "import_confirm",
    title: "Confirm an import",
    description: "Imports what a preview shows, all of it or nothing. Show its warnings first. A second call finds " +
      "no preview.",
    effect: "create",
    params: Input({ ...businessId, previewId: Schema.String }),
    success: ConfirmedWithLoss,
    run: ({ businessId, previewId }) => imports.confirm(businessId, previewId)
  }),
  tool({
    ...directory,
    name: "import_discard",
    title: "Discard an import's preview",
    description: "Drops a preview that won't be confirmed; a business has 20 at most at a time.",
    effect: "delete",
    params: Input({ ...businessId, previewId: Schema.String }),
    run: ({ businessId, previewId }) => imports.discard(businessId, previewId)
  }),
  tool({
    ...directory,
    name: "import_revert",
    title: "Revert an import",
    description: "Takes back one import that nothing was built upon: removes its items and categories, restores the " +
      "profile, and the catalog that publish_business replaced. Business, listing and server stay. importId is the " +
      "preview's id.",
    effect: "replace",
    params: Input({ ...businessId, importId: Schema.String }),
    success: Reverted,
    run: ({ businessId, importId }) => imports.revert(businessId, importId)
  })
])
