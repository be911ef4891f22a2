import { type Traits } from "#http/traits/Traits.ts"
import { issuesFrom } from "#src/format/issues.ts"
import { codeOf, describe, errorOf, type Failure, Invalid } from "#src/shared/Failure.ts"
import { describeOutage, reportOutage } from "#src/shared/outage.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type Cause, Effect, Predicate } from "effect"
import { openHeaders } from "./cors.ts"

/** RFC 6749 §5.2 lacks codes for 429 and 5xx; clients know these two from the authorization endpoint (§4.1.2.1). */
const oauthCode = (status: number) =>
  status === 429 || status === 503 ? "temporarily_unavailable" : status >= 500 ? "server_error" : "invalid_request"

const bodyOf = (codes: Traits["codes"], { code, details, jsonRpc, message, status }: Failure) => {
  if (jsonRpc !== undefined) {
    // A code of JSON-RPC's own says it all.
    const data = status === 400 ? {} : { data: { code: codes === "lower" ? code.toLowerCase() : code } }
    return { jsonrpc: "2.0", id: jsonRpc.id, error: { code: jsonRpc.code, message, ...data } }
  }
  return codes === "oauth" ? { error: oauthCode(status), error_description: message } : {
    error: {
      code: codes === "lower" ? code.toLowerCase() : code,
      message,
      ...(details === undefined ? {} : { details })
    }
  }
}

/** A failure as JSON. */
export const errorResponse = ({ codes }: Traits, failure: Failure) => {
  const { allow, retryAfter, status } = failure
  const headers = {
    ...(codes === "oauth" ? { ...openHeaders, "cache-control": "no-store" } : {}),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    ...(allow === undefined ? {} : { allow: allow.join(", ") }),
    // RFC 9110 §12.5.3: what a body may come in.
    ...(status === 415 ? { "accept-encoding": "identity" } : {}),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(status === 408 || status === 413 ? { connection: "close" } : {})
  }
  return HttpServerResponse.unsafeJson(bodyOf(codes, failure), { status, headers })
}

const failed = (status: number, message: string): Failure => ({ status, code: codeOf(status), message })

/** HttpApi does not say which part is invalid; the method does: a query (400) or a body (422). */
const decodeFailure = (
  { method }: HttpServerRequest.HttpServerRequest,
  { wrongQuery }: Traits,
  issues: Parameters<typeof issuesFrom>[0]
): Failure | undefined => {
  const error = new Invalid({ issues: issuesFrom(issues) })
  return describe(method === "GET" || method === "HEAD" ? wrongQuery(error) : error)
}

const failureOfError = (
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits,
  error: unknown
): Failure | undefined => {
  if (Predicate.isTagged(error, "HttpApiDecodeError") && Predicate.hasProperty(error, "issues")) {
    return decodeFailure(request, traits, error.issues as Parameters<typeof issuesFrom>[0])
  }
  if (Predicate.isTagged(error, "RouteNotFound")) return failed(404, "There is nothing at this path")
  return describeOutage(error) ?? describe(error)
}

/**
 * The failure to report for any error of a request, those of HttpApi and of the router included. An unexpected
 * error is a 500, whose cause is logged and not shown to the caller.
 */
export const failureOf = (
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits,
  cause: Cause.Cause<unknown>
) => {
  const error = errorOf(cause)
  const expected = failureOfError(request, traits, error)
  return expected !== undefined
    ? Effect.as(reportOutage(error), expected)
    : Effect.as(
      Effect.logError("A request failed unexpectedly", cause),
      failed(500, "Something went wrong on our side; the log has it under this request id")
    )
}
