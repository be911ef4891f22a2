import { AccountId } from "#src/accounts/CurrentActor.ts"
import { type EmbeddedSubscription, monthsAfter, readingAt, Renewals } from "#src/billing/embedded-subscription.ts"
import { currentOf, planOf, readingOf, rowAfter } from "#src/billing/readings.ts"
import { readingOfStripe } from "#src/billing/stripe-reading.ts"
import { eventsOf, firstStates, states, subscriptionEvents } from "#src/billing/subscription-states.ts"
import { type SubscriptionRow } from "#src/billing/Subscription.ts"
import { redact } from "#src/shared/redact.ts"
import { FastCheck as fc } from "effect"
import { type Stripe } from "stripe"
import { describe, expect, it } from "vitest"
import { secretKey } from "../support/stripe-objects.ts"
import { prices, webhookSecret } from "../support/stripe.ts"

const day = 24 * 60 * 60_000
const moments = fc.date({ min: new Date("2026-01-01"), max: new Date("2031-01-01"), noInvalidDate: true })
const subscriptions = fc.record({
  id: fc.constantFrom("sub_1", "sub_2", "sub_3"),
  plan: fc.constantFrom("developer", "pro", "enterprise"),
  startedAt: moments,
  renewals: fc.constantFrom(...Renewals.literals),
  cancelsAt: fc.constant(null)
}) satisfies fc.Arbitrary<EmbeddedSubscription>
const whose = {
  accountId: AccountId.make("01J00000000000000000000000"),
  customerId: "cus_1",
  processor: "stripe" as const
}

describe("the state machine", () => {
  it("has an answer to every event in every state, and only canceled has no plan", () => {
    for (const [status, { hasPlan, on }] of Object.entries(states)) {
      expect(hasPlan, status).toBe(status !== "canceled")
      for (const event of subscriptionEvents) expect(Object.keys(states), `${status} ${event}`).toContain(on[event])
    }
    expect(Object.values(firstStates).sort()).toEqual(Object.keys(states).sort())
    for (const [status, event] of Object.entries(eventsOf)) expect(firstStates[event]).toBe(status)
  })

  it("ends in the state of the last event, whichever were seen before", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom(...subscriptionEvents), { minLength: 1 }), (events) => {
      const [first, ...rest] = events
      const last = rest.reduce((status, event) => states[status].on[event], firstStates[first!])
      expect(last).toBe(firstStates[events.at(-1)!])
    }))
  })
})

describe("the stand-in's subscriptions", () => {
  it("have months that begin where the one before ended, on the day of the first or the month's last", () => {
    expect(monthsAfter(new Date("2027-01-31T10:00:00Z"), 1).toISOString()).toBe("2027-02-28T10:00:00.000Z")
    expect(monthsAfter(new Date("2027-01-31T10:00:00Z"), 13).toISOString()).toBe("2028-02-29T10:00:00.000Z")
    expect(monthsAfter(new Date("2026-11-30T23:59:59.999Z"), 3).toISOString()).toBe("2027-02-28T23:59:59.999Z")
    fc.assert(fc.property(subscriptions, fc.integer({ min: 0, max: 1500 * day }), (subscription, millis) => {
      const now = new Date(subscription.startedAt.getTime() + millis)
      const { event, periodEnd, periodStart } = readingAt(subscription, now)
      expect(periodStart <= now).toBe(true)
      expect(periodStart < periodEnd).toBe(true)
      if (event === "paid" || event === "trialBegan") {
        expect(now < periodEnd).toBe(true)
        expect(readingAt(subscription, new Date(periodEnd.getTime() - 1)).periodEnd <= periodEnd).toBe(true)
        expect(readingAt({ ...subscription, renewals: "paid" }, periodEnd).periodStart <= periodEnd).toBe(true)
      }
    }))
  })

  it("end when they are canceled, and stay ended", () => {
    fc.assert(fc.property(subscriptions, fc.nat(60 * day), fc.nat(400 * day), (subscription, began, later) => {
      const at = new Date(subscription.startedAt.getTime() + began)
      const before = readingAt(subscription, at)
      const canceled = { ...subscription, cancelsAt: before.periodEnd }
      expect(readingAt(canceled, at).event).toBe(before.event)
      const over = readingAt(canceled, new Date(before.periodEnd.getTime() + later))
      expect(over.event).toBe("ended")
    }))
  })

  it("tell when they change by themselves", () => {
    fc.assert(fc.property(subscriptions, fc.nat(100 * day), (subscription, began) => {
      const at = new Date(subscription.startedAt.getTime() + began)
      const { dueAt, event, periodEnd } = readingAt(subscription, at)
      if (event === "ended") return
      const due = (dueAt ?? periodEnd).getTime()
      expect(due).toBeGreaterThan(at.getTime())
      expect(readingAt(subscription, new Date(due - 1)).event).toBe(event)
    }))
  })
})

describe("a row", () => {
  it("stays the same when the same is read again; its revision counts the changes", () => {
    fc.assert(
      fc.property(subscriptions, fc.array(fc.nat(70 * day), { minLength: 1, maxLength: 6 }), (subscription, gaps) => {
        let row: SubscriptionRow | undefined
        let millis = subscription.startedAt.getTime()
        for (const gap of gaps) {
          millis += gap
          const now = new Date(millis)
          const next = rowAfter(row, readingAt(subscription, now), { ...whose, now })
          expect(rowAfter(next, readingAt(subscription, now), { ...whose, now })).toEqual(next)
          expect(next!.revision - (row?.revision ?? 0)).toBeLessThanOrEqual(row === undefined ? 0 : 1)
          expect(next!.dueAt > now).toBe(true)
          row = next
        }
      })
    )
  })

  it("is over at its end, also while the processor says otherwise, and is not made of a price that is none of ours", () => {
    const now = new Date("2027-03-01T00:00:00Z")
    const reading = {
      id: "sub_1",
      plan: "pro" as const,
      event: "paid" as const,
      periodStart: new Date("2027-02-01T00:00:00Z"),
      periodEnd: now,
      cancelsAt: now,
      createdAt: new Date("2027-02-01T00:00:00Z")
    }
    const row = rowAfter(undefined, reading, { ...whose, now })!
    expect(row.status).toBe("canceled")
    expect(rowAfter(row, { ...reading, plan: undefined, cancelsAt: null }, { ...whose, now }))
      .toMatchObject({ plan: "pro", status: "active", revision: 1 })
    expect(rowAfter(undefined, { ...reading, plan: undefined }, { ...whose, now })).toBeUndefined()
    expect(readingOf(row)).toMatchObject({ event: "ended", plan: "pro" })
    const other = { ...row, id: "sub_2", status: "past_due" as const, plan: "developer" as const }
    const newer = { ...other, id: "sub_3", createdAt: now, plan: "enterprise" as const }
    expect([currentOf([other, row, newer])?.id, planOf([row]), planOf([other, row])])
      .toEqual(["sub_3", undefined, "developer"])
    expect(currentOf([other, { ...newer, processor: "embedded" }])?.id, "paid for before played").toBe("sub_2")
  })
})

describe("a subscription of Stripe", () => {
  const item = {
    id: "si_1",
    price: { id: prices.pro },
    current_period_start: 1_800_000_000,
    current_period_end: 1_802_592_000
  }
  const of = (fields: object) =>
    readingOfStripe(
      {
        id: "sub_1",
        status: "active",
        created: 1_800_000_000,
        cancel_at: null,
        cancel_at_period_end: false,
        metadata: {},
        items: { data: [item] },
        // Where it was until 2025: not read.
        current_period_end: 1,
        ...fields
      } as unknown as Stripe.Subscription,
      prices,
      new Set(["price_of_last_year"])
    )

  it("has the period of its item, and the plan of the item's price", () => {
    expect(of({})).toEqual({
      id: "sub_1",
      plan: "pro",
      event: "paid",
      periodStart: new Date(1_800_000_000_000),
      periodEnd: new Date(1_802_592_000_000),
      cancelsAt: null,
      createdAt: new Date(1_800_000_000_000)
    })
    const other = { ...item, price: { id: "price_of_something_else" } }
    expect(of({ items: { data: [other, item] } })?.plan).toBe("pro")
    const former = { ...item, price: { id: "price_of_last_year" } }
    expect(of({ items: { data: [former] }, metadata: { plan: "developer" } })?.plan).toBe("developer")
    expect(of({ items: { data: [former] }, metadata: { plan: "free" } })?.plan).toBeUndefined()
    expect(of({ items: { data: [other] }, metadata: { plan: "enterprise" } })?.plan).toBeUndefined()
  })

  it("has not begun before its first payment, and ends by either way to cancel", () => {
    for (const status of ["incomplete", "incomplete_expired", "a_state_of_tomorrow"]) {
      expect(of({ status }), status).toBeUndefined()
    }
    expect(of({ items: { data: [] } })).toBeUndefined()
    expect(of({ cancel_at_period_end: true })?.cancelsAt).toEqual(new Date(1_802_592_000_000))
    expect(of({ cancel_at: 1_801_000_000 })?.cancelsAt).toEqual(new Date(1_801_000_000_000))
  })
})

describe("keys of the processor", () => {
  it("are masked in the log", () => {
    expect(redact(`no such key: ${secretKey}, rk_live_abc123 or ${webhookSecret}.`))
      .toBe("no such key: sk_test_…, rk_live_… or whsec_….")
  })
})
