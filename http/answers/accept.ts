import { type Headers } from "@effect/platform"
import Negotiator from "negotiator"

/** The media types that `Accept` allows, for readers that look for names alone and know of no quality of 0. */
export const allowedTypes = (headers: Headers.Headers) => new Negotiator({ headers }).mediaTypes().join(", ")

/**
 * Of the media types on offer, the one that `Accept` prefers (RFC 9110 §12.5.1). The first of them where it says
 * nothing, or nothing that is on offer: an answer in another form helps more than 406.
 */
export const preferred = <T extends string>(headers: Headers.Headers, offers: readonly [T, ...ReadonlyArray<T>]): T => {
  const found = new Negotiator({ headers }).mediaType([...offers])
  return offers.find((offer) => offer === found) ?? offers[0]
}
