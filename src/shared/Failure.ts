import { type Issue, issuesOf } from "#src/format/issues.ts"
import { HttpApiSchema } from "@effect/platform"
import { Cause, Effect, Option, ParseResult, Predicate, Schema } from "effect"

/** What both doors say of a failure: the HTTP status, and the envelope's `code`, `message` and `details`. */
export interface Failure {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number
  /** Methods, for `Allow`. */
  readonly allow?: ReadonlyArray<string>
  /** Where the answer is to be an error of JSON-RPC: its code, and the id of what it answers. */
  readonly jsonRpc?: { readonly code: number; readonly id: string | number | null }
}

const FailureCode = Symbol.for("berth/FailureCode")

const codes: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  422: "VALIDATION_ERROR",
  429: "RATE_LIMITED",
  500: "INTERNAL_ERROR",
  501: "NOT_IMPLEMENTED",
  503: "SERVICE_UNAVAILABLE"
}

/**
 * Annotations of an error class: its HTTP status, and its code where the status has not the usual one.
 * The class may carry `details` (shown to the caller), `retryAfter` (seconds) and `allow` (methods).
 */
export const failsWith = (status: number, code?: string): { readonly [key: symbol]: unknown } => ({
  ...HttpApiSchema.annotations({ status }),
  [FailureCode]: code ?? codes[status]
})

/** The code of a status in the platform's (uppercase) vocabulary. */
export const codeOf = (status: number) => codes[status] ?? "INTERNAL_ERROR"

/** A body or a tool's arguments did not fit (422), a query did not (400). */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}, failsWith(422)) {
  override get message() {
    return sentence(this.issues)
  }
  get details() {
    return { issues: this.issues }
  }
  /** One field is wrong for a reason no schema can know. */
  static field = (path: string, message: string) => new Invalid({ issues: [{ path, message }] })
}

/** Decodes what a caller sent; what does not fit is told field by field. */
export const decodeInput = <A, I, R>(schema: Schema.Schema<A, I, R>) => {
  const decode = Schema.decodeUnknown(schema)
  return (input: unknown) => Effect.mapError(decode(input), (error) => new Invalid({ issues: issuesOf(error) }))
}

export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  reason: Schema.String,
  issues: Schema.optional(Invalid.fields.issues)
}, failsWith(400)) {
  override get message() {
    return this.reason
  }
  get details() {
    return this.issues === undefined ? undefined : { issues: this.issues }
  }
}

export const sentence = (issues: ReadonlyArray<Issue>) => {
  const [first, ...more] = issues
  if (first === undefined) return "The request is not valid"
  const where = first.path === "" ? "" : `${first.path}: `
  return `${where}${first.message}${more.length > 0 ? ` (and ${more.length} more)` : ""}`
}

const codeAnnotation = (schema: Schema.Schema.Any): string | undefined => {
  const to = schema.ast._tag === "Transformation" ? schema.ast.to : schema.ast
  const found = to.annotations[FailureCode] ?? schema.ast.annotations[FailureCode]
  return typeof found === "string" ? found : undefined
}

/**
 * The error that a cause is about. Data of our own that does not fit its schema (a row, as a rule) is a defect: what is
 * wrong with it is not the caller's fault, and not for the caller.
 */
export const errorOf = (cause: Cause.Cause<unknown>): unknown => {
  const error = Cause.failureOption(cause)
  if (Option.isSome(error)) return error.value
  const defect = Option.getOrUndefined(Cause.dieOption(cause))
  return ParseResult.isParseError(defect) ? undefined : defect
}

/** The failure of a tagged error, read from its class; undefined for what is not meant for callers. */
export const describe = (error: unknown): Failure | undefined => {
  if (ParseResult.isParseError(error)) return describe(new Invalid({ issues: issuesOf(error) }))
  if (!Predicate.isObject(error) || !Predicate.hasProperty(error, "_tag")) return undefined
  const schema: unknown = error.constructor
  if (!Schema.isSchema(schema)) return undefined
  const status = HttpApiSchema.getStatusErrorAST(schema.ast)
  const details = Predicate.hasProperty(error, "details") && Predicate.isRecord(error.details)
    ? error.details
    : undefined
  const retryAfter = Predicate.hasProperty(error, "retryAfter") ? Number(error.retryAfter) : undefined
  return {
    status,
    code: codeAnnotation(schema) ?? codeOf(status),
    message: Predicate.hasProperty(error, "message") ? String(error.message) : codeOf(status),
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(Predicate.hasProperty(error, "allow") && Array.isArray(error.allow) ? { allow: error.allow.map(String) } : {})
  }
}
