import { offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { Either } from "effect"

/** RFC 6749 §3.3. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/

const namesOf = (text: string) => [...new Set(text.split(" ").filter((name) => name !== ""))]

/**
 * The requested scopes that the resource offers, in the order of `offered`. Unknown scopes are ignored, as RFC 6749
 * §3.3 allows: clients send every scope they may ever need. Left is the reason for a rejection.
 */
export const requestedScopes = (
  text: string | undefined,
  offered: ReadonlyArray<string>,
  fallback: ReadonlyArray<string>
): Either.Either<ReadonlyArray<string>, string> => {
  if (text === undefined) return Either.right(fallback)
  if (!scopeForm.test(text)) return Either.left("scope is not a list of scopes with spaces between")
  const names = namesOf(text)
  const accepted = offered.filter((name) => names.includes(name))
  const offline = names.includes(offlineAccess) ? [offlineAccess] : []
  if (accepted.length > 0) return Either.right([...accepted, ...offline])
  return Either.left(
    names.length === offline.length
      ? `${offlineAccess} alone does not say which access: name the scopes as well, such as ${offered[0]}`
      : "none of the scopes is one of this resource"
  )
}

/**
 * Adds `offline_access` for a client that registered the `refresh_token` grant, even if it did not ask: many clients
 * request exactly the scopes of a 401, which never include it (docs/decisions/refresh-tokens.md). It is then shown to
 * the user, and granted, like any other.
 */
export const withRefreshing = (
  scopes: ReadonlyArray<string>,
  grantTypes: ReadonlyArray<string>
): ReadonlyArray<string> =>
  grantTypes.includes("refresh_token") && !scopes.includes(offlineAccess) ? [...scopes, offlineAccess] : scopes

/** The scopes of a refreshed token: the granted ones, or fewer (RFC 6749 §6). Left is the reason for a rejection. */
export const narrowedScopes = (
  text: string | undefined,
  granted: ReadonlyArray<string>
): Either.Either<ReadonlyArray<string>, string> => {
  if (text === undefined) return Either.right(granted)
  if (!scopeForm.test(text)) return Either.left("scope is not a list of scopes with spaces between")
  const names = namesOf(text)
  return names.every((name) => granted.includes(name))
    ? Either.right(granted.filter((name) => names.includes(name)))
    : Either.left("scope holds more than was granted")
}
