import { type Issue, issuesOf } from "#src/format/issues.ts"
import { HttpApiSchema } from "@effect/platform"
import { Cause, Effect, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"

/** A failure as HTTP and MCP report it: the HTTP status, and the envelope's `code`, `message` and `details`. */
export interface Failure {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number
  /** Methods, for `Allow`. */
  readonly allow?: ReadonlyArray<string>
  /** For a JSON-RPC error: its code, and the id of the request. */
  readonly jsonRpc?: { readonly code: number; readonly id: string | number | null }
}

const FailureCode = Symbol.for("berth/FailureCode")

/** Every code that is answered, by status: the first is that of an error which names none. */
export const failureCodes = {
  400: ["BAD_REQUEST", "VALIDATION_ERROR", "INVALID_INPUT"],
  401: ["UNAUTHORIZED"],
  403: ["FORBIDDEN", "PLAN_LIMIT_REACHED"],
  404: ["NOT_FOUND", "CONFIG_NOT_GENERATED"],
  405: ["METHOD_NOT_ALLOWED"],
  408: ["REQUEST_TIMEOUT"],
  409: ["CONFLICT", "DEPLOYMENT_ENDED", "DEPLOYMENT_IN_PROGRESS", "LIMIT_EXCEEDED", "NOT_CONFIRMED", "NOT_DEPLOYED"],
  410: ["CHANGES_TOKEN_EXPIRED"],
  413: ["PAYLOAD_TOO_LARGE", "FILE_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
  417: ["EXPECTATION_FAILED"],
  421: ["MISDIRECTED_REQUEST"],
  422: ["VALIDATION_ERROR", "PREVIEW_EXPIRED", "UNSUPPORTED_FORMAT"],
  429: ["RATE_LIMITED", "LIMIT_EXCEEDED", "PLAN_LIMIT_REACHED", "QUOTA_EXCEEDED"],
  500: ["INTERNAL_ERROR"],
  501: ["NOT_IMPLEMENTED"],
  /** An error of a composite's member has a code of its own (src/composites/member-code.ts). */
  502: ["BAD_GATEWAY"],
  503: ["SERVICE_UNAVAILABLE"]
} as const
type Status = keyof typeof failureCodes

const byStatus: Readonly<Record<number, ReadonlyArray<string>>> = failureCodes

/**
 * Annotations of an error class: its HTTP status, and its code if not the default of that status.
 * The class may carry `details` (shown to the caller), `retryAfter` (seconds), `allow` (methods), and a `failureCode`
 * where one class has several codes.
 */
export const failsWith = <S extends Status>(
  status: S,
  code: (typeof failureCodes)[S][number] = failureCodes[status][0]
): { readonly [key: symbol]: unknown } => ({ ...HttpApiSchema.annotations({ status }), [FailureCode]: code })

/** The code of a status in the platform's (uppercase) vocabulary. */
export const codeOf = (status: number) => byStatus[status]?.[0] ?? "INTERNAL_ERROR"

/** A body or a tool's arguments are invalid (422). */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}, failsWith(422)) {
  override get message() {
    return sentence(this.issues)
  }
  get details() {
    return { issues: this.issues }
  }
  /** One field is invalid for a reason that no schema can express. */
  static field = (path: string, message: string) => new Invalid({ issues: [{ path, message }] })
}

/** Decodes a caller's input; the error lists every invalid field. */
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

/** A query, or the arguments of a tool that reads, is not valid, in the platform's code (contract: Platform errors). */
export const asBadRequest = ({ issues, message }: Invalid) => new BadRequest({ reason: message, issues })

export const sentence = (issues: ReadonlyArray<Issue>) => {
  const [first, ...more] = issues
  if (first === undefined) return "The request is not valid"
  const where = first.path === "" ? "" : `${first.path}: `
  return `${where}${first.message}${more.length > 0 ? ` (and ${more.length} more)` : ""}`
}

const codeAnnotation = (ast: SchemaAST.AST): string | undefined => {
  const to = ast._tag === "Transformation" ? ast.to : ast
  const code = to.annotations[FailureCode] ?? ast.annotations[FailureCode]
  return typeof code === "string" ? code : undefined
}

/** The codes of an error's class, or of each in a union of them. */
export const codesIn = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const own = codeAnnotation(ast)
  return own !== undefined ? [own] : SchemaAST.isUnion(ast) ? ast.types.flatMap(codesIn) : []
}

/**
 * The error of a cause. Undefined for our own data (usually a row) that does not fit its schema: such a defect is not
 * the caller's fault, and must not be shown to the caller.
 */
export const errorOf = (cause: Cause.Cause<unknown>): unknown => {
  const error = Cause.failureOption(cause)
  if (Option.isSome(error)) return error.value
  const defect = Option.getOrUndefined(Cause.dieOption(cause))
  return ParseResult.isParseError(defect) ? undefined : defect
}

/** The failure of a tagged error, from its class's annotations; undefined for errors that callers must not see. */
export const describe = (error: unknown): Failure | undefined => {
  if (ParseResult.isParseError(error)) return describe(new Invalid({ issues: issuesOf(error) }))
  if (!Predicate.isObject(error) || !Predicate.hasProperty(error, "_tag")) return undefined
  const schema: unknown = error.constructor
  if (!Schema.isSchema(schema)) return undefined
  const status = HttpApiSchema.getStatusErrorAST(schema.ast)
  const details = Predicate.hasProperty(error, "details") && Predicate.isRecord(error.details)
    ? error.details
    : undefined
  const retryAfter = Predicate.hasProperty(error, "retryAfter") && error.retryAfter !== null
    ? Number(error.retryAfter)
    : undefined
  const ownCode = Predicate.hasProperty(error, "failureCode") ? String(error.failureCode) : undefined
  return {
    status,
    code: ownCode ?? codeAnnotation(schema.ast) ?? codeOf(status),
    message: Predicate.hasProperty(error, "message") ? String(error.message) : codeOf(status),
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(Predicate.hasProperty(error, "jsonRpc") ? { jsonRpc: error.jsonRpc as NonNullable<Failure["jsonRpc"]> } : {}),
    ...(Predicate.hasProperty(error, "allow") && Array.isArray(error.allow) ? { allow: error.allow.map(String) } : {})
  }
}
