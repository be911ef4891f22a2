import { Data } from "effect"

/** RFC 6749 §4.1.2.1 and §5.2, RFC 8707 §2, RFC 9101 §6.3: every code that this server returns. */
export type OAuthErrorCode =
  | "access_denied"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_token"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "unsupported_grant_type"
  | "unsupported_response_type"

/** A rejected request; answered as `{error, error_description}`, or returned to the client in a redirect. */
export class OAuthError extends Data.TaggedError("OAuthError")<{
  readonly error: OAuthErrorCode
  /** One sentence of printable ASCII without quotes and backslashes (RFC 6749 §5.2). */
  readonly description: string
}> {}

export const oauthError = (error: OAuthErrorCode, description: string) => new OAuthError({ error, description })
