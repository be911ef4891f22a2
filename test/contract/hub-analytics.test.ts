import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let listingId = ""
let day = 0
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  ;({ listingId } = await newBusiness(owner))
})

const path = (id = listingId) => `/api/v1/hub/analytics/listings/${id}`
const counted = async (period?: string) =>
  dataOf(await owner.get<{ readonly data: object }>(`${path()}${period === undefined ? "" : `?period=${period}`}`))
const happen = (kind: string, n: number, daysAgo = 0) => {
  const date = new Date(berth.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
  return runSql(
    berth.databaseUrl,
    `INSERT INTO listing_events (listing_id, day, kind, n) VALUES ($1, $2, $3, $4)
     ON CONFLICT (listing_id, day, kind) DO UPDATE SET n = listing_events.n + excluded.n`,
    [listingId, date, kind, n]
  )
}
const setTier = (tier: string) =>
  runSql(berth.databaseUrl, "UPDATE listings SET tier = $2 WHERE id = $1", [listingId, tier])

describe("listing analytics", () => {
  row("listing analytics: fields by listing tier, rates to 2 decimals, 0 without views", async () => {
    await setTier("premium")
    const none = {
      view_count: 0,
      click_count: 0,
      click_through_rate: 0,
      search_impressions: 0,
      referral_clicks: 0,
      conversion_rate: 0
    }
    expect(await counted()).toEqual({ tier: "premium", period: "30d", ...none })
    await happen("click", 4)
    expect(await counted()).toMatchObject({ click_count: 4, click_through_rate: 0 })
    await happen("view", 30)
    await happen("search_impression", 70)
    await happen("referral_click", 3)
    await happen("transaction", 2)
    const all = {
      view_count: 30,
      click_count: 4,
      click_through_rate: 13.33,
      search_impressions: 70,
      referral_clicks: 3,
      conversion_rate: 6.67
    }
    expect(await counted("30d")).toEqual({ tier: "premium", period: "30d", ...all })
    await setTier("featured")
    expect(await counted()).toEqual({
      tier: "featured",
      period: "30d",
      view_count: 30,
      click_count: 4,
      click_through_rate: 13.33
    })
    await setTier("basic")
    expect(await counted()).toEqual({ tier: "basic", period: "30d", view_count: 30 })
  })

  row("GET /api/v1/hub/analytics/listings/:id → 200 { data: analytics }", async () => {
    await setTier("basic")
    // The first day of each period counts, the one before it does not.
    for (const daysAgo of [6, 7, 29, 30, 89, 90]) await happen("view", 1000, daysAgo)
    const views = await Promise.all(["7d", "30d", "90d"].map((period) => counted(period)))
    expect(views).toEqual([
      { tier: "basic", period: "7d", view_count: 1030 },
      { tier: "basic", period: "30d", view_count: 3030 },
      { tier: "basic", period: "90d", view_count: 5030 }
    ])
  })

  row("GET /api/v1/hub/analytics/listings/:id/daily → 200 { data: { name, tier, period, days[] } }", async () => {
    const daily = async () =>
      dataOf(await owner.get<{ readonly data: { readonly days: ReadonlyArray<object> } }>(`${path()}/daily?period=7d`))
    await happen("click", 5, 2)
    await happen("transaction", 3, 2)
    await setTier("premium")
    const { days, ...rest } = await daily()
    expect(rest).toEqual({ name: expect.stringMatching(/\S/), tier: "premium", period: "7d" })
    expect(days).toHaveLength(7)
    const dayOf = (daysAgo: number) => new Date(berth.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
    expect(days.map((entry) => "day" in entry && entry.day)).toEqual([6, 5, 4, 3, 2, 1, 0].map(dayOf))
    expect(days[0]).toEqual({ day: dayOf(6), view_count: 1000, click_count: 0, transaction_count: 0 })
    expect(days[4]).toEqual({ day: dayOf(2), view_count: 0, click_count: 5, transaction_count: 3 })
    await setTier("featured")
    expect((await daily()).days[4]).toEqual({ day: dayOf(2), view_count: 0, click_count: 5 })
    await setTier("basic")
    expect((await daily()).days[4]).toEqual({ day: dayOf(2), view_count: 0 })
  })

  row("analytics: 400 invalid_input, id no ULID or unknown period", async () => {
    for (
      const bad of [
        path("x"),
        path(`${listingId}0`),
        path(listingId.toLowerCase()),
        ...["7", "", "1d", "30D", "toString"].map((period) => `${path()}?period=${period}`),
        `${path()}?period=7d&period=90d`,
        `${path()}/daily?period=7d&period=7d`
      ]
    ) {
      const answer = await owner.get(bad)
      expect([answer.status, answer.body], bad).toEqual([400, failure("invalid_input")])
    }
  })

  row("analytics: 403 forbidden, another's listing; 404 not_found, listing missing", async () => {
    const other = await berth.signUp()
    const denied = await other.get(path())
    expect([denied.status, denied.body]).toEqual([403, failure("forbidden")])
    const missing = await owner.get(path("01J00000000000000000000000"))
    expect([missing.status, missing.body]).toEqual([404, failure("not_found")])
  })

  it("are those of what happened, within seconds: a detail that was read is a view", async () => {
    await owner.patch(`/v1/directory/${listingId}`, { visible: true })
    const before = (await counted("7d")) as { readonly view_count: number }
    await berth.request("GET", `/v1/directory/${listingId}`)
    day = Date.now()
    while (Date.now() < day + 10_000) {
      const now = (await counted("7d")) as { readonly view_count: number }
      if (now.view_count === before.view_count + 1) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect.unreachable("the view was not counted")
  })
})
