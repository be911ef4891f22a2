import { averageHealthOf, type CompositeMember, rank, summaryOf, tierWeights, trustOf } from "#src/composites/Member.ts"
import { namesOf, titleCase } from "#src/composites/title-case.ts"
import { listingTiers } from "#src/plans/ListingTier.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const member = fc.record({
  listing_tier: fc.constantFrom(...listingTiers),
  verification_tier: fc.integer({ min: 0, max: 3 }),
  health_score: fc.integer({ min: 50, max: 100 })
})
const members = fc.array(member, { minLength: 1, maxLength: 60 })
type Rated = Pick<CompositeMember, "listing_tier" | "verification_tier" | "health_score">
const one: Rated = { listing_tier: "featured", verification_tier: 2, health_score: 80 }

describe("trust, health and rank of a composite", () => {
  it("are those of a worked example", () => {
    const other: Rated = { listing_tier: "premium", verification_tier: 3, health_score: 91 }
    expect(summaryOf([one, other])).toEqual({ compositeTrust: 2, avgHealthScore: 85.5, memberCount: 2 })
    expect(rank([one, other])).toBe(2 * 85.5 * 2.5)
    expect(summaryOf([])).toEqual({ compositeTrust: 0, avgHealthScore: 0, memberCount: 0 })
    expect(rank([])).toBe(0)
  })

  it("trust is a member's, and no member has less", () => {
    fc.assert(fc.property(members, (all) => {
      expect(all.map((each) => each.verification_tier)).toContain(trustOf(all))
      expect(all.every((each) => each.verification_tier >= trustOf(all))).toBe(true)
    }))
  })

  it("neither depends on the order of the members", () => {
    fc.assert(fc.property(members, (all) => {
      const turned = [...all].reverse()
      expect(summaryOf(turned)).toEqual(summaryOf(all))
      expect(rank(turned)).toBeCloseTo(rank(all), 6)
    }))
  })

  it("the mean is between the least and the most, and of equals their own", () => {
    fc.assert(fc.property(members, (all) => {
      const scores = all.map((each) => each.health_score)
      expect(averageHealthOf(all)).toBeGreaterThanOrEqual(Math.min(...scores))
      expect(averageHealthOf(all)).toBeLessThanOrEqual(Math.max(...scores))
      expect(averageHealthOf(all.map((each) => ({ ...each, health_score: 77 })))).toBe(77)
    }))
  })

  it("a member of lower tier never raises trust, and one that is worse in all never raises the rank", () => {
    fc.assert(fc.property(members, member, (all, added) => {
      expect(trustOf([...all, added])).toBeLessThanOrEqual(trustOf(all))
      const worst: Rated = { listing_tier: "basic", verification_tier: 0, health_score: 50 }
      expect(rank([...all, worst])).toBe(0)
    }))
  })

  it("the rank is at most that of the best that there can be", () => {
    fc.assert(fc.property(members, (all) => {
      expect(rank(all)).toBeGreaterThanOrEqual(0)
      expect(rank(all)).toBeLessThanOrEqual(3 * 100 * tierWeights.premium)
    }))
  })
})

describe("the name of a system composite", () => {
  it.each([
    ["san josé", "nail_salons", "San José Nail Salons"],
    ["San José", "Nail Salons", "San José Nail Salons"],
    ["MCALLEN", "restaurant", "McAllen Restaurant"],
    ["mcallen", "HOME_SERVICES", "McAllen Home Services"],
    ["McAllen", "hvac repair", "McAllen HVAC Repair"],
    ["o'fallon", "bbq", "O'Fallon BBQ"],
    ["winston-salem", "bed and breakfast", "Winston-Salem Bed and Breakfast"],
    ["isle of palms", "joe's kind", "Isle of Palms Joe's Kind"],
    ["DeLand", "salon", "DeLand Salon"],
    ["ST. LOUIS", "salon", "St. Louis Salon"],
    ["of", "the", "Of The"],
    ["東京", "ラーメン", "東京 ラーメン"],
    ["  new   york ", "retail", "New York Retail"]
  ])("%s, %s is %s", (city, vertical, name) => {
    expect(namesOf({ city, state: "", vertical }).name).toBe(name)
  })

  it("is written once: title case changes nothing in what it wrote", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
      const name = titleCase(text)
      expect(titleCase(name)).toBe(name)
      expect(name).not.toMatch(/_| {2}|^ | $/)
    }))
  })
})
