/** What is asked of the dynamic query: alone, by vertical and place, and with what narrows its members. */
import { brands, tags, zips } from "../directory/data.ts"

const draw = (() => {
  let seed = 11
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
})()
const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(draw() * values.length)]!
/** As the listings have them: some are everywhere. */
const brand = () => brands[Math.floor(draw() ** 2 * brands.length)]!

type Question = Readonly<Record<string, string | number>>
export interface Case {
  readonly name: string
  readonly question: () => Question
}

const vertical = () => ({ vertical: brand().industry })
const state = () => ({ state: pick(zips).state })
const city = () => {
  const { city, state } = pick(zips)
  return { city, state }
}
const circle = (miles: number) => () => {
  const { latitude, longitude } = pick(zips)
  return { lat: latitude, lng: longitude, radius_miles: miles }
}
const tier = () => ({ verification_tier_min: 1 + Math.floor(draw() * 3) })
const size = () => ({ min_members: pick([2, 3, 5, 10, 20]) })
const health = () => ({ health_score_min: pick([60, 80, 90]) })
const search = () => ({ search: brand().name })
const category = () => ({ category: pick(brand().categories) })
const tag = () => ({ tags: pick(Object.keys(tags)) })
/** Almost half of all listings have it. */
const broadTag = () => ({ tags: "delivery" })
const twoTags = () => ({ tags: "delivery,takeout" })
const listingTier = () => ({ listing_tier: pick(["basic", "featured", "premium"]) })
/** As the directory's data numbers them. */
const listed = () => ({
  listing_ids: Array.from(
    { length: 20 },
    () => `01C${Math.floor(draw() * 100_000).toString(16).toUpperCase().padStart(23, "0")}`
  ).join(",")
})

const asking = (...parts: ReadonlyArray<() => Question>) => () =>
  Object.assign({}, ...parts.map((part) => part())) as Question

const all: Readonly<Record<string, ReadonlyArray<() => Question>>> = {
  "nothing": [],
  "vertical": [vertical],
  "state": [state],
  "vertical + state": [vertical, state],
  "city": [city],
  "city + vertical": [city, vertical],
  "trust": [tier],
  "trust + vertical": [tier, vertical],
  "min_members": [size],
  "min_members + trust": [size, tier],
  "health + city": [health, city],
  "health + vertical + state": [health, vertical, state],
  "category + city": [category, city],
  "circle of 10 miles": [circle(10)],
  "circle of 50 miles": [circle(50)],
  "search + city": [search, city],
  "search": [search],
  "health + state": [health, state],
  "health + vertical": [health, vertical],
  "category": [category],
  "health": [health],
  "listing_tier": [listingTier],
  "listing_tier + vertical": [listingTier, vertical],
  "listing_ids": [listed],
  "tag": [tag],
  "broad tag": [broadTag],
  "broad tag + trust": [broadTag, tier],
  "broad tag + state": [broadTag, state],
  "broad tag + city": [broadTag, city],
  "broad tag + health": [broadTag, health],
  "two broad tags": [twoTags],
  "category + tag": [category, tag]
}

export const cases: ReadonlyArray<Case> = Object.entries(all).map(([name, parts]) => ({
  name,
  question: asking(...parts)
}))
