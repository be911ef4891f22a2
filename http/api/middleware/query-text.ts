import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { issuesFrom } from "#src/format/issues.ts"
import { type InvalidInput } from "#src/hub/ListingAnalytics.ts"
import { type BadRequest, Invalid } from "#src/shared/Failure.ts"
import { type BadQuery } from "#src/shared/query-parameters.ts"

/** Undefined where the percent-encoding is broken (RFC 3986 §2.1) or its bytes are not UTF-8 (§2.5). */
const decoded = (text: string) => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** The name of the parameter that can't be decoded; empty when its name can't. */
const undecodable = (url: string) => {
  const at = url.indexOf("?")
  const pairs = at === -1 ? [] : url.slice(at + 1).split("&")
  const broken = pairs.find((pair) => decoded(pair) === undefined)
  return broken === undefined ? undefined : decoded(broken.split("=", 1)[0] ?? "") ?? ""
}

/**
 * Rejects a query with broken percent-encoding: a lenient reading would answer a different request than the one that
 * was meant.
 */
export const withReadableQuery = routeMiddleware<BadRequest | BadQuery | InvalidInput>(({ url }, { traits }, app) => {
  const name = traits.strictQuery ? undecodable(url) : undefined
  if (name === undefined) return app
  const path = name.slice(0, 100).toWellFormed()
  const message = "must be UTF-8, percent-encoded"
  return traits.wrongQuery(
    new Invalid({ issues: [path === "" ? { path, message: `The query ${message}` } : { path, message }] })
  )
})

const namesIn = (url: string) => {
  const at = url.indexOf("?")
  return at === -1 ? [] : [...new URLSearchParams(url.slice(at + 1)).keys()]
}

/**
 * Rejects parameters of a route that takes none. Those of one that takes some are rejected with what else is wrong, by
 * its schema; but `__proto__`, which no schema gets to see.
 */
export const withKnownQuery = routeMiddleware<BadRequest | BadQuery | InvalidInput>(({ url }, { traits }, app) => {
  if (traits.query === "any") return app
  const unknown = namesIn(url).filter((name) => traits.query === "none" || name === "__proto__")
  if (unknown.length === 0) return app
  return traits.wrongQuery(
    new Invalid({ issues: issuesFrom(unknown.map((name) => ({ path: [name], message: "", known: [] }))) })
  )
})
