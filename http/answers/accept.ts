import { type Headers } from "@effect/platform"
import Negotiator from "negotiator"

/** The media types that `Accept` allows, for code that looks for names only and ignores a quality of 0. */
export const allowedTypes = (headers: Headers.Headers) => new Negotiator({ headers }).mediaTypes().join(", ")

/**
 * The offered media type that `Accept` prefers (RFC 9110 §12.5.1). The first offer when it is absent or allows none of
 * them: a response in another form helps more than 406.
 */
export const preferred = <T extends string>(headers: Headers.Headers, offers: readonly [T, ...ReadonlyArray<T>]): T => {
  const best = new Negotiator({ headers }).mediaType([...offers])
  return offers.find((offer) => offer === best) ?? offers[0]
}
