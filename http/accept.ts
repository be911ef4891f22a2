import { type Headers } from "@effect/platform"
import Negotiator from "negotiator"

/** `Accept` without the types that it rules out by a quality of 0, for readers that look for names alone. */
export const withoutExcluded = (accept: string) =>
  accept.split(",").filter((range) => !/;\s*q\s*=\s*0(\.0{0,3})?\s*(;|$)/i.test(range)).join(",")

/**
 * Of the media types on offer, the one that `Accept` prefers (RFC 9110 §12.5.1). The first of them where it says
 * nothing, or nothing that is on offer: an answer in another form helps more than 406.
 */
export const preferred = <T extends string>(headers: Headers.Headers, offers: readonly [T, ...ReadonlyArray<T>]): T => {
  const found = new Negotiator({ headers }).mediaType([...offers])
  return offers.find((offer) => offer === found) ?? offers[0]
}
