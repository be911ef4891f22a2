import { Either, Option, Schema } from "effect"
import { type ImageError, imageError } from "./ImageError.ts"

const Errors = Schema.parseJson(Schema.Struct({
  errors: Schema.NonEmptyArray(Schema.Struct({
    code: Schema.optional(Schema.String),
    message: Schema.optional(Schema.String),
    detail: Schema.optional(Schema.Unknown)
  }))
}))
const decode = Schema.decodeUnknownEither(Errors)

/** What the registry says of itself (OCI distribution specification, "Error Codes"). */
const saidIn = (text: string) =>
  Option.map(
    Either.getRight(decode(text)),
    ({ errors: [{ code = "", message = "", detail }] }) => ({ code, message, detail })
  )

/** What a registry says besides its code. */
export interface Said {
  readonly message: string
  readonly detail?: unknown
}

/** Its sentence, and the details of it; undefined where it has no sentence. */
export const wordsIn = (text: string): Said | undefined =>
  Option.getOrUndefined(Option.filter(saidIn(text), ({ message }) => message !== ""))

/** A full disk is known by the words of the system's error, or its number, that registries pass on. */
const isFull = (status: number, text: string) =>
  status === 507 || status >= 500 && /no space left|disk quota exceeded|"Err":\s*(28|122)\b/i.test(text)

/** Why a registry did not take something, by its answer. */
export const refusalOf = (registry: string, status: number, text: string, what: string): ImageError => {
  const said = Option.match(saidIn(text), {
    onNone: () => "",
    onSome: ({ code, message }) => ` (${[code, message].filter((part) => part !== "").join(": ").slice(0, 200)})`
  })
  const answered = `${registry} answered ${status}${said} for ${what}`
  if (isFull(status, text)) return imageError("full", `${registry} has no room left for ${what}`)
  if (status === 413) return imageError("too_large", `${registry}, or a proxy before it, takes no ${what} of this size`)
  if (status === 429 || status >= 500) return imageError("unreachable", answered)
  if (status === 404) return imageError("not_found", answered)
  return imageError(/DIGEST_INVALID/.test(text) ? "digest_mismatch" : "not_taken", answered)
}
