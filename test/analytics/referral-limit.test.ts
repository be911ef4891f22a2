import { makeReferralLimit } from "#src/analytics/referral-limit.ts"
import { describe, expect, it } from "vitest"

describe("referrals of one caller", () => {
  it("count once in a while for a listing; the oldest is forgotten for want of room", () => {
    const counts = makeReferralLimit({ entries: 2, millis: 100 })
    expect([counts(0, "a", "x"), counts(99, "a", "x"), counts(100, "a", "x")]).toEqual([true, false, true])
    expect([counts(101, "b", "x"), counts(102, "b", "x")], "another address").toEqual([true, false])
    expect([counts(103, "b", "y"), counts(104, "a", "x")], "another listing, for which the first has to go")
      .toEqual([true, true])
  })
})
