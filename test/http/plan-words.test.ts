import { planWords, subscriptionWords } from "#http/pages/plan-words.ts"
import { usageNotes } from "#http/pages/usage-notes.ts"
import { type SubscriptionRow } from "#src/billing/Subscription.ts"
import { type LimitUse, type UsageReport } from "#src/limits/UsageReport.ts"
import { describe, expect, it } from "vitest"

const paid = (fields: Partial<SubscriptionRow & { readonly renewable: boolean }> = {}) => ({
  plan: "pro" as const,
  status: "active" as const,
  cancelsAt: null,
  renewable: true,
  currentPeriodEnd: new Date("2027-03-05T12:00:00Z"),
  ...fields
})
const cancelsAt = new Date("2027-03-05T12:00:00Z")

describe("the words about a subscription", () => {
  it("say what it costs and when, or what follows it", () => {
    expect(subscriptionWords(paid())).toEqual(["It costs 99 USD a month, and is renewed on March 5, 2027."])
    expect(subscriptionWords(paid({ status: "trialing" }))).toEqual([
      "This is a trial: from March 5, 2027 on it costs 99 USD a month."
    ])
    expect(subscriptionWords(paid({ cancelsAt }))).toEqual([
      "The subscription was canceled: the pro plan ends on March 5, 2027, and the free plan follows."
    ])
    expect(subscriptionWords(paid({ status: "trialing", cancelsAt }))).toEqual([
      "This is a trial that was canceled: the pro plan ends on March 5, 2027, and the free plan follows."
    ])
    expect(subscriptionWords(paid({ status: "past_due" }))).toEqual([
      "It costs 99 USD a month, and the last payment failed.",
      "The payment processor tries again: see to it that your card can be charged. Until then you keep the plan; if it " +
      "is not paid, the free plan follows."
    ])
    for (const status of ["active", "past_due"] as const) {
      expect(subscriptionWords(paid({ status, renewable: false }))).toEqual([
        "This installation no longer uses the payment processor of your subscription: the pro plan ends on March 5, 2027, " +
        "and the free plan follows."
      ])
    }
    const [canceled, late] = subscriptionWords(paid({ status: "past_due", cancelsAt }))
    expect([canceled, late]).toEqual([expect.stringContaining("ends on March 5"), expect.not.stringContaining("Until")])
  })

  it("say by what right an account is on its plan", () => {
    const words = (held: Partial<Parameters<typeof planWords>[0]>) =>
      planWords({ plan: "free", current: undefined, subscribed: false, ...held })
    expect(words({})).toBe("You are on the free plan, which costs nothing.")
    expect(words({ subscribed: true })).toBe("You are on the free plan: your subscription has ended.")
    const granted = "You are on the enterprise plan, which the operator of this installation granted: nothing is " +
      "charged for it."
    expect(words({ plan: "enterprise" })).toBe(granted)
    expect(words({ plan: "enterprise", subscribed: true })).toBe(granted)
    expect(words({ plan: "pro", current: paid() })).toBe(
      "You are on the pro plan. It costs 99 USD a month, and is renewed on March 5, 2027."
    )
    expect(words({ plan: "enterprise", current: paid() })).toBe(
      `${granted} Your subscription to the pro plan goes on. It costs 99 USD a month, and is renewed on March 5, 2027.`
    )
  })
})

describe("the notes above an account's usage", () => {
  const use = (limit: LimitUse["limit"], used: number, allowed: number | null) => ({
    limit,
    used,
    allowed,
    reached: null,
    over: allowed !== null && used > allowed
  })
  const notesOf = (
    report: Partial<UsageReport>,
    fields?: Partial<SubscriptionRow & { readonly renewable: boolean }>
  ) => {
    const held = { plan: report.plan ?? "free", current: fields && paid(fields), subscribed: false }
    const notes = usageNotes(held, {
      plan: "free",
      month: null,
      startsAt: new Date("2027-02-01T00:00:00Z"),
      resetsAt: new Date("2027-03-01T00:00:00Z"),
      usage: { requestCount: 0, computeSeconds: 0, bandwidthBytes: 0 },
      limits: [],
      days: [],
      ...report
    })
    return notes.flat().flatMap((note) => typeof note === "object" && "text" in note ? [note.text] : [])
  }

  it("are none where nothing is used up, over, or late", () => {
    expect(notesOf({ limits: [use("requestsPerMonth", 9_999, 10_000), use("servers", 2, 2)] })).toEqual([])
    expect(notesOf({ plan: "enterprise", limits: [use("requestsPerMonth", 1e9, null)] })).toEqual([])
  })

  it("say what is used up, until when, and which plan allows more", () => {
    const limits = [use("requestsPerMonth", 10_000, 10_000)]
    const [note = "", ...others] = notesOf({ limits })
    expect(others).toEqual([])
    expect(note).toContain("The requests of the period are used up")
    expect(note).toMatch(
      /The free plan allows 10,000 requests a month\. Until <time datetime="2027-03-01T00:00:00\.000Z">/
    )
    expect(note).toContain("The developer plan (29 USD a month) allows more at once.")
    const [far = ""] = notesOf({ limits: [use("requestsPerMonth", 100_000, 10_000)] })
    expect(far).toContain("The pro plan (99 USD a month) allows more at once.")
    const [compute = ""] = notesOf({ limits: [use("computeSecondsPerMonth", 100_001, 100_000)] })
    expect(compute).toContain("The compute seconds of the period are used up")
    expect(compute).toContain("your servers sleep")
    const [past = ""] = notesOf({ month: "2027-01", resetsAt: new Date("2027-02-01T00:00:00Z"), limits })
    expect(past).toContain("Until the current period ends")
  })

  it("say that a payment failed, and what is more than the plan allows", () => {
    const notes = notesOf({ plan: "pro", limits: [use("servers", 51, 50)] }, { status: "past_due" })
    expect(notes.map((note) => /<h2[^>]*>(.*)<\/h2>/.exec(note)?.[1])).toEqual([
      "The last payment failed",
      "More than the pro plan allows"
    ])
  })
})
