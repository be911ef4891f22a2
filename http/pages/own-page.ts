import { daysOf } from "#src/hub/ListingAnalytics.ts"
import { isUlid } from "#src/shared/ids.ts"
import { type Links } from "./links.ts"

const isPeriod = (text: string | null): text is string => text !== null && Object.hasOwn(daysOf, text)

/** A sign-in's query to come back by: to one listing in one period, or to the list of listings. */
export const toListing = (id: string | undefined, period: string | null) =>
  id !== undefined && isUlid(id)
    ? String(new URLSearchParams({ to: "listing", id, ...(isPeriod(period) ? { period } : {}) }))
    : "to=listings"

/** The same for what the account uses of its plan. */
export const toUsage = "to=usage"

/**
 * The page of ours to go to after a sign-in; undefined when the query names none. It names a page by a word and an id
 * and never by an address, so that no link can send people who signed in elsewhere.
 */
export const ownPage = (links: Links, query: string) => {
  const asked = new URLSearchParams(query)
  const [to, id, period] = [asked.get("to"), asked.get("id") ?? "", asked.get("period")]
  if (to === "listings") return links.listings()
  if (to === "usage") return links.usage()
  if (to !== "listing" || !isUlid(id)) return undefined
  return links.listing(id, isPeriod(period) ? String(new URLSearchParams({ period })) : "")
}
