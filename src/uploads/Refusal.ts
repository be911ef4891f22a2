import { Schema } from "effect"

/** Codes of the OCI distribution specification, "Error Codes", with the status that each is answered with. */
export const statusOf = {
  BLOB_UNKNOWN: 404,
  BLOB_UPLOAD_INVALID: 400,
  BLOB_UPLOAD_UNKNOWN: 404,
  DENIED: 403,
  DIGEST_INVALID: 400,
  MANIFEST_BLOB_UNKNOWN: 400,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  NAME_UNKNOWN: 404,
  RANGE_INVALID: 416,
  SIZE_INVALID: 400,
  TOOMANYREQUESTS: 429,
  UNAUTHORIZED: 401,
  UNAVAILABLE: 503,
  UNSUPPORTED: 405,
  /** Not the specification's: of the distribution project's own registry. */
  PAGINATION_NUMBER_INVALID: 400,
  /** Not the specification's: RFC 4918 §11.5, "Insufficient Storage". */
  DISK_FULL: 507,
  INTERNAL_ERROR: 500
} as const
export type RefusalCode = keyof typeof statusOf

/** A request to the registry that is refused. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  code: Schema.Literal(...(Object.keys(statusOf) as [RefusalCode, ...ReadonlyArray<RefusalCode>])),
  message: Schema.String,
  detail: Schema.optional(Schema.Unknown)
}) {
  get status() {
    return statusOf[this.code]
  }
}

export const refused = (code: RefusalCode, message: string, detail?: unknown) =>
  new Refusal({ code, message, ...(detail === undefined ? {} : { detail }) })
