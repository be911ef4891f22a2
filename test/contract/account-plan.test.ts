import { describe, expect } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { timestamp } from "./shapes.ts"

const berth = useBerth()

describe("the account's plan", () => {
  row("GET /v1/billing/plan → 200 { data: { plan, status, usage, limits } }", async () => {
    const account = await berth.signUp("developer")
    await account.server((await account.project()).id)
    const { body, status } = await account.get<{ data: { limits: ReadonlyArray<object> } }>("/v1/billing/plan")
    const plans = (await account.get<{ data: ReadonlyArray<{ plan: string }> }>("/v1/plans")).body.data
    expect([status, body]).toEqual([200, {
      data: {
        plan: plans.find(({ plan }) => plan === "developer"),
        status: "active",
        currentPeriodStart: timestamp,
        currentPeriodEnd: timestamp,
        usage: { requestCount: 0, computeSeconds: 0, bandwidthBytes: 0 },
        limits: (await account.get<{ data: { limits: ReadonlyArray<object> } }>("/v1/billing/usage")).body.data.limits
      }
    }])
    expect(body.data.limits).toContainEqual({ limit: "servers", used: 1, allowed: 10, reached: null, over: false })
  })
})
