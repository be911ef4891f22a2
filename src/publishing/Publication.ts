import { Business, BusinessId, Profile } from "#src/businesses/Business.ts"
import { Deployment } from "#src/deployments/Deployment.ts"
import { TemplateType } from "#src/format/ReadyConfig.ts"
import { ImportId, ImportMode, Preview, Warning } from "#src/imports/Import.ts"
import { Mappings } from "#src/imports/Mappings.ts"
import { Visibility } from "#src/listings/Listing.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Input, Name, optional, Text } from "#src/shared/text.ts"
import { Schema } from "effect"

/** A tool's arguments and a JSON body are at most 1 MiB; a bigger file needs the two steps of an import. */
const maxCharacters = 900_000

export const publishFields = {
  filename: Name.annotations({ description: "menu.csv or business.json: the extension decides how it is read" }),
  content: Text(maxCharacters).annotations({ description: "The file's text" }),
  name: optional(Name).annotations({ description: "The business's name; a JSON file has it already" }),
  templateType: optional(TemplateType),
  profile: optional(Profile),
  mappings: optional(Mappings),
  projectId: optional(Schema.String).annotations({
    description: "The project it goes into; without it your newest, or a new one when you have none"
  }),
  businessId: optional(Schema.String).annotations({
    description: "An existing business that the file is for, in place of name, templateType and projectId"
  }),
  mode: optional(ImportMode).annotations({
    description:
      "With businessId: replace (the file's items take the place of its catalog; the default) or add. A file " +
      "without items replaces nothing"
  }),
  visible: optional(Schema.Boolean).annotations({
    description:
      "Whether the listing is shown once the server runs; true by default, but as it is for one that runs already"
  }),
  dryRun: optional(Schema.Boolean).annotations({
    description: "Answer what publishing would import, or why it can't be, and write nothing"
  })
}
export const Publish = Input(publishFields)
export type Publish = typeof Publish.Type

/** What one call created, and where agents find it. */
export const Publication = Schema.Struct({
  businessId: BusinessId,
  business: Business,
  serverId: Schema.String,
  mcpUrl: Schema.String.annotations({ description: "Where MCP clients connect" }),
  importId: ImportId.annotations({ description: "Takes the import back: import_revert, or POST …/import/:id/revert" }),
  importedItems: Schema.Int,
  warnings: Schema.Array(Warning),
  ...Preview.pick("unmapped_columns", "suggested_mappings", "price_candidates", "source_program").fields,
  deployment: Deployment,
  listing: Visibility
}).annotations({ title: "Publication" })
export type Publication = typeof Publication.Type

/** What a publication would import: an import's preview that can't be confirmed. */
export const DryRun = Schema.Struct({
  dryRun: Schema.Literal(true),
  refusal: Schema.NullOr(Schema.String).annotations({
    description:
      "Why the same call without dryRun would be refused although the file can be imported (its prices or items would be lost), and what to pass; null when it would not"
  }),
  ...Preview.omit("preview_id", "expires_at").fields
}).annotations({ title: "DryRun" })
export type DryRun = typeof DryRun.Type

/** The database went away after the business was made or changed; the rest is carried on (docs/businesses.md). */
export class PublicationGoesOn extends Schema.TaggedError<PublicationGoesOn>()("PublicationGoesOn", {
  businessId: Schema.String,
  serverId: Schema.String,
  importId: Schema.String,
  retryAfter: Schema.Int
}, failsWith(503)) {
  override get message() {
    return "The database went away while the business was being published. That goes on by itself once the database " +
      "is back: read the business, and do not publish the file again"
  }
  get details() {
    return { businessId: this.businessId, serverId: this.serverId, importId: this.importId }
  }
}

/** The business or its server was deleted during the publication. */
export class PublicationCutOff extends Schema.TaggedError<PublicationCutOff>()("PublicationCutOff", {
  businessId: Schema.String,
  serverId: Schema.String
}, failsWith(409)) {
  override get message() {
    return "The business or its server was changed by somebody else while it was being published"
  }
  /** Ids of what may still exist. */
  get details() {
    return { businessId: this.businessId, serverId: this.serverId }
  }
}
