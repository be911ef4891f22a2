import { accessTokenType, tokenExchange } from "#src/oauth/exchange-names.ts"
import { type OAuthError, oauthError } from "#src/oauth/OAuthError.ts"
import { Either } from "effect"
import { duplicated, parameter } from "./duplicates.ts"
import { provesItself } from "./secret.ts"

/** A token exchange request as far as its form goes (RFC 8693 §2.1). */
export interface ExchangeForm {
  readonly subjectToken: string
  readonly resource: string
  readonly scope: string | undefined
}

export const asksForExchange = (form: URLSearchParams) => parameter(form, "grant_type") === tokenExchange

const rejected = (description: string) => Either.left(oauthError("invalid_request", description))

/** `audience` may stand in for `resource`: servers are known by their URLs alone. */
export const exchangeIn = (form: URLSearchParams): Either.Either<ExchangeForm, OAuthError> => {
  if (duplicated(form) !== undefined) return rejected("a parameter is there more than once")
  if (provesItself(form)) {
    return Either.left(oauthError("invalid_client", "clients here have no secret: send client_id alone"))
  }
  const subjectToken = parameter(form, "subject_token")
  if (subjectToken === undefined) return rejected("subject_token is required")
  if (parameter(form, "subject_token_type") !== accessTokenType) {
    return rejected(`subject_token_type must be ${accessTokenType}`)
  }
  const requested = parameter(form, "requested_token_type")
  if (requested !== undefined && requested !== accessTokenType) {
    return rejected(`requested_token_type must be ${accessTokenType}`)
  }
  if (parameter(form, "actor_token") !== undefined) return rejected("there are no actor tokens here")
  const targets = new Set([...form.getAll("resource"), ...form.getAll("audience")].filter((text) => text !== ""))
  const [resource, another] = targets
  if (resource === undefined) return rejected("resource is required: the URL of the server to call")
  return another === undefined
    ? Either.right({ subjectToken, resource, scope: parameter(form, "scope") })
    : Either.left(oauthError("invalid_target", "a token is for one resource"))
}
