import { nextPlanWith, PlanName, plans, Quota, Region } from "#src/plans/Plan.ts"
import { autoStopRefusal, quotaRefusal, regionRefusal } from "#src/plans/PlanLimitReached.ts"
import { planList } from "#src/plans/PlanList.ts"
import { FastCheck } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const { assert, constantFrom, nat, property } = FastCheck
const planNames = constantFrom(...PlanName.literals)

describe("plans", () => {
  it("allow at least what the cheaper ones do, and cost more", () => {
    const atLeast = (one: number | null, other: number | null) => one === null || other !== null && one >= other
    for (const [at, name] of PlanName.literals.entries()) {
      const [plan, cheaper] = [plans[name], plans[PlanName.literals[at - 1] ?? name]]
      for (const quota of Quota.literals) expect(atLeast(plan.quotas[quota], cheaper.quotas[quota]), quota).toBe(true)
      for (const limit of ["requestsPerMonth", "computeSecondsPerMonth"] as const) {
        expect(atLeast(plan[limit], cheaper[limit]), limit).toBe(true)
      }
      expect(plan.requestsPerMinute).toBeGreaterThanOrEqual(cheaper.requestsPerMinute)
      expect(plan.deploymentsKept).toBeGreaterThanOrEqual(cheaper.deploymentsKept)
      expect(plan.logDays).toBeGreaterThanOrEqual(cheaper.logDays)
      expect(plan.logLines).toBeGreaterThanOrEqual(cheaper.logLines)
      expect(plan.regions).toEqual(expect.arrayContaining([...cheaper.regions]))
      if (at > 0) expect(plan.price).toBeGreaterThan(cheaper.price)
    }
  })
})

describe("docs/billing.md", () => {
  it("lists each limit of a refusal, with its entry of the list of plans", () => {
    const table = readFileSync(new URL("../../docs/billing.md", import.meta.url), "utf8")
    const rows = [...table.matchAll(/^\| `(\w+)` \| `(limits\.)?(\w+)` \|/gm)].map(([, limit, inside, entry = ""]) => {
      const [plan] = planList
      expect(Object.keys((inside === undefined ? plan : plan?.limits) ?? {}), limit).toContain(entry)
      return limit
    })
    expect(rows).toEqual([...Quota.literals, "region", "autoStop", "requestsPerMonth", "computeSecondsPerMonth"])
  })
})

describe("a refusal by the plan", () => {
  it("is there exactly when the sum is over the quota, and names the cheapest plan in which it is not", () => {
    assert(property(planNames, constantFrom(...Quota.literals), nat(2e12), nat(2e12), (plan, quota, used, adding) => {
      const within = (name: PlanName) => used + adding <= (plans[name].quotas[quota] ?? Infinity)
      const refusal = quotaRefusal(plan, quota, used, adding)
      expect(refusal === undefined).toBe(within(plan))
      if (refusal === undefined) return
      const next = PlanName.literals.find((name) => plans[name].price > plans[plan].price && within(name)) ?? null
      const nextPrice = next === null ? null : plans[next].price
      expect(refusal.details).toEqual({
        limit: quota,
        used,
        allowed: plans[plan].quotas[quota],
        plan,
        nextPlan: next,
        nextPrice
      })
      if (next !== null) expect(refusal.message).toContain(`change to the ${next} plan (${nextPrice} USD a month)`)
    }))
  })

  it("of a region and of a server that never stops says what is asked and what it would cost", () => {
    for (const region of Region.literals) expect(regionRefusal("pro", region)).toBeUndefined()
    expect(regionRefusal("free", "ord")).toBeUndefined()
    const next = { nextPlan: "developer", nextPrice: 29 }
    expect(regionRefusal("free", "syd")?.details).toEqual({
      limit: "region",
      used: "syd",
      allowed: ["ord"],
      plan: "free",
      ...next
    })
    expect(regionRefusal("free", "syd")?.message).toBe(
      "The free plan allows only servers in ord: change to the developer plan (29 USD a month)"
    )
    expect(autoStopRefusal("free", null)?.details).toEqual({
      limit: "autoStop",
      used: "never",
      allowed: "required",
      plan: "free",
      ...next
    })
    for (const [plan, seconds] of [["free", 60], ["free", undefined], ["developer", null]] as const) {
      expect(autoStopRefusal(plan, seconds)).toBeUndefined()
    }
  })

  it("says how many to delete, also far over the limit", () => {
    const message = (used: number) => quotaRefusal("free", "servers", used, 1)?.message
    expect(message(2)).toBe(
      "The free plan allows 2 servers: delete one, or change to the developer plan (29 USD a month)"
    )
    expect(message(51)).toBe(
      "The free plan allows 2 servers: delete 50 of the 51, or change to the enterprise plan (199 USD a month)"
    )
  })

  it("names no plan when none would do", () => {
    expect(nextPlanWith("enterprise", () => true)).toBeUndefined()
    const refusal = quotaRefusal("enterprise", "documentBytes", 10e9, 1)
    expect(refusal?.details).toMatchObject({ nextPlan: null, nextPrice: null })
    expect(refusal?.message).toBe(
      "The enterprise plan allows 10 GB of capability documents, with those that were replaced within the hour: wait"
    )
  })
})
