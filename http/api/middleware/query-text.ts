import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { BadRequest } from "#src/shared/Failure.ts"

/** Undefined where the percent-encoding is broken (RFC 3986 §2.1) or its bytes are not UTF-8 (§2.5). */
const decoded = (text: string) => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** The parameter that can't be decoded, by name; empty when it is the name that can't. */
const undecodable = (url: string) => {
  const at = url.indexOf("?")
  const pairs = at === -1 ? [] : url.slice(at + 1).split("&")
  const bad = pairs.find((pair) => decoded(pair) === undefined)
  return bad === undefined ? undefined : decoded(bad.split("=", 1)[0] ?? "") ?? ""
}

/**
 * A query whose percent-encoding is broken is refused: read leniently it would be answered, and with something else than
 * was asked for.
 */
export const withReadableQuery = routeMiddleware<BadRequest>(({ url }, { traits }, app) => {
  const name = traits.strictQuery ? undecodable(url) : undefined
  if (name === undefined) return app
  const path = name.slice(0, 100).toWellFormed()
  const message = "must be UTF-8, percent-encoded"
  return new BadRequest({
    reason: path === "" ? `The query ${message}` : `${path}: ${message}`,
    issues: [{ path, message }]
  })
})
