import { priceLimitOf } from "#src/syndication/price-limit.ts"
import { describe, expect, it } from "vitest"

describe("a price in the words of a search", () => {
  const cases: ReadonlyArray<readonly [query: string, words: string | undefined, mostCents: number]> = [
    ["gluten-free pizza under 15 dollars", "gluten-free pizza", 1500],
    ["gluten-free pizza below $15", "gluten-free pizza", 1500],
    ["pizza less than 12.50 in Denver", "pizza in Denver", 1250],
    ["Pizza  for Less Than $ 9.5, gluten-free", "Pizza , gluten-free", 950],
    ["pizza up to $15", "pizza", 1500],
    ["cheaper than 20: haircut", ": haircut", 2000],
    ["haircut cheaper than 20", "haircut", 2000],
    ["haircut that is no more than USD 20 near me", "haircut that is near me", 2000],
    ["sofa, 1,200 dollars or less", "sofa,", 120_000],
    ["soup costing at most 8 bucks", "soup", 800],
    ["ramen <$15", "ramen", 1500],
    ["soup under 99,999,999,999 dollars", "soup", 2_147_483_647],
    ["under 15 dollars near me", undefined, 0],
    ["bakery under 5 miles", undefined, 0],
    ["hotel up to 4 people", undefined, 0],
    ["pizza under 15 euros", undefined, 0],
    ["pizza under the bridge", undefined, 0],
    ["pizza under 15.999", undefined, 0],
    ["pizza 15 dollars", undefined, 0],
    ["thunder 15", undefined, 0]
  ]

  it("is a limit where a currency, the end or a stop word follows it, and something else is searched for", () => {
    for (const [query, words, mostCents] of cases) {
      expect(priceLimitOf(query), query).toEqual(words === undefined ? undefined : { words, mostCents })
    }
  })
})
