import { failsWith, sentence } from "#src/shared/Failure.ts"
import { Schema } from "effect"

/** Contract: Limits, capability document size; the others are ours. */
export const documentLimits = {
  bytes: 512 * 1024,
  /** Of YAML before the text. */
  frontmatterBytes: 64 * 1024,
  tools: 1_000,
  /** Characters. */
  name: 200,
  toolName: 128,
  description: 1_024
} as const

export const DocumentFormat = Schema.Literal("skill_md", "json")
export type DocumentFormat = typeof DocumentFormat.Type

const DocumentTool = Schema.Struct({ name: Schema.String, description: Schema.String })
export type DocumentTool = typeof DocumentTool.Type

/** What was read from a document: one line each, without control characters. */
export const ParsedDocument = Schema.Struct({
  name: Schema.String.annotations({ description: "The document's, else its first heading, else the listing's" }),
  description: Schema.String,
  tools: Schema.Array(DocumentTool)
})
export type ParsedDocument = typeof ParsedDocument.Type

/** Contract: Capability document. */
export const CapabilityDoc = Schema.Struct({
  capabilityDocUrl: Schema.String.annotations({ description: "Where the document's bytes are, for anybody" }),
  format: DocumentFormat,
  parsed: ParsedDocument
}).annotations({ title: "CapabilityDoc" })
export type CapabilityDoc = typeof CapabilityDoc.Type

/** A document as sent: its media type and name decide its format. */
export interface SentDocument {
  readonly type: string
  readonly filename: string
  readonly bytes: Uint8Array
}

/** A document whose format is known. */
export const documentOf = (format: DocumentFormat, bytes: Uint8Array): SentDocument => ({
  type: format === "json" ? "application/json" : "text/markdown",
  filename: "",
  bytes
})

const Issues = Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
export type Issue = typeof Issues.Type[number]

/** Contract: Hub error codes, a file that can't be taken. */
export class DocumentNotValid extends Schema.TaggedError<DocumentNotValid>()(
  "DocumentNotValid",
  { issues: Issues },
  failsWith(400, "VALIDATION_ERROR")
) {
  override get message() {
    return sentence(this.issues)
  }
  get details() {
    return { issues: this.issues }
  }
  static of = (message: string, path = "file") => new DocumentNotValid({ issues: [{ path, message }] })
}

export const tooLarge = () => DocumentNotValid.of(`must be at most ${documentLimits.bytes / 1024} KB`)

/** Contract: Hub error codes, a listing that is not shown. */
export class ListingDelisted extends Schema.TaggedError<ListingDelisted>()("ListingDelisted", {}, failsWith(422)) {
  override get message() {
    return "The listing is not in the directory: show it first (PATCH /v1/directory/{id}, set_visibility)"
  }
}

export class TooManyUploads extends Schema.TaggedError<TooManyUploads>()(
  "TooManyUploads",
  { limit: Schema.Int, retryAfter: Schema.Int },
  failsWith(429)
) {
  override get message() {
    return `More than ${this.limit} uploads a minute; try again in ${this.retryAfter} seconds`
  }
}

export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such listing in the directory, or it has no capability document"
  }
}
