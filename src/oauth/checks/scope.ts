import { offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { Either } from "effect"

/** RFC 6749 §3.3. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/

const namesOf = (text: string) => [...new Set(text.split(" ").filter((name) => name !== ""))]

/**
 * The scopes that a request asks of a resource that has `offered`, in that order. Scopes unknown there are left out,
 * as RFC 6749 §3.3 allows: clients ask for all they ever want. Left is why the request is refused.
 */
export const requestedScopes = (
  text: string | undefined,
  offered: ReadonlyArray<string>,
  fallback: ReadonlyArray<string>
): Either.Either<ReadonlyArray<string>, string> => {
  if (text === undefined) return Either.right(fallback)
  if (!scopeForm.test(text)) return Either.left("scope is not a list of scopes with spaces between")
  const names = namesOf(text)
  const known = offered.filter((name) => names.includes(name))
  const offline = names.includes(offlineAccess) ? [offlineAccess] : []
  if (known.length > 0) return Either.right([...known, ...offline])
  // A request for refresh tokens alone says nothing of what for.
  return names.length === offline.length
    ? Either.right([...fallback, ...offline])
    : Either.left("none of the scopes is one of this resource")
}

/**
 * The same, and `offline_access` for a client that registered the `refresh_token` grant, whether it asked or not: many
 * ask for exactly the scopes that a 401 names, which `offline_access` is never among (docs/decisions/refresh-tokens.md).
 * It is then shown to the user, and granted, like any other.
 */
export const withRefreshing = (
  scopes: ReadonlyArray<string>,
  grantTypes: ReadonlyArray<string>
): ReadonlyArray<string> =>
  grantTypes.includes("refresh_token") && !scopes.includes(offlineAccess) ? [...scopes, offlineAccess] : scopes

/** The scopes of a refreshed token: those of before, or fewer of them (RFC 6749 §6). Left is the first that is not. */
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
