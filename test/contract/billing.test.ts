import { describe, expect } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { billingOf, checkoutPath, decideOn, statusOf, subscriber } from "../support/checkout.ts"
import { row } from "./row.ts"
import { failure, timestamp } from "./shapes.ts"

const berth = useBerth()

describe("billing", () => {
  row("POST /v1/billing/subscribe { plan } → 201 { data: { url } }", async () => {
    const account = await berth.signUp()
    const answer = await account.post("/v1/billing/subscribe", { plan: "developer" })
    expect([answer.status, answer.body]).toEqual([201, { data: { url: expect.stringMatching(/^http:\/\/\S+$/) } }])
    expect(await statusOf(account)).toBe("free active")
    await decideOn(berth, await checkoutPath(berth, account), "pay")
    const { body } = await account.get("/v1/billing")
    expect(body).toEqual({
      data: {
        plan: "developer",
        status: "active",
        currentPeriodStart: timestamp,
        currentPeriodEnd: timestamp,
        usage: { requestCount: 0, computeSeconds: 0, bandwidthBytes: 0 },
        limits: { requestsPerMonth: 100_000, computeSecondsPerMonth: 1_000_000, maxServers: 10 }
      }
    })
  })

  row("PATCH /v1/billing/plan { plan } → 204", async () => {
    const account = await subscriber(berth)
    for (const plan of ["enterprise", "pro", "pro", "developer"]) {
      const answer = await account.patch("/v1/billing/plan", { plan })
      expect([answer.status, answer.text, await statusOf(account)]).toEqual([204, "", `${plan} active`])
    }
  })

  row("DELETE /v1/billing/subscribe → 204; cancels at period end", async () => {
    const account = await subscriber(berth, "pro")
    const before = await billingOf(account)
    for (let time = 0; time < 2; time++) {
      const answer = await account.delete("/v1/billing/subscribe")
      expect([answer.status, answer.text]).toEqual([204, ""])
      expect(await billingOf(account)).toEqual({ ...before, cancelAtPeriodEnd: true })
    }
    // The failure's envelope, for what can't be canceled.
    const free = await (await berth.signUp()).delete("/v1/billing/subscribe")
    expect([free.status, free.body]).toEqual([409, failure("CONFLICT")])
  })
})
