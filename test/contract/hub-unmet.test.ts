import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { holdLock, runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let listingId = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  const contact = { address: { city: "Denver", state: "Colorado" }, coordinates: { lat: 39.7392, lng: -104.9903 } }
  const business = await newBusiness(owner, { industry: "bakery" })
  listingId = business.listingId
  await owner.patch(`/api/v1/ready/businesses/${business.id}`, { contact })
  await owner.patch(`/api/v1/ready/businesses/${business.id}/listing`, { categories: ["Sourdough Bread"] })
})

interface Found {
  readonly period: string
  readonly has_more: boolean
  readonly searches: ReadonlyArray<{ readonly words?: string; readonly times: number; readonly near: boolean }>
}
const path = (id = listingId) => `/api/v1/hub/analytics/listings/${id}/unmet-searches`
const found = async (account = owner, id = listingId) => dataOf(await account.get<{ readonly data: Found }>(path(id)))
/** They are written every five seconds. */
const written = () => {
  berth.hurry(5_000)
  return found()
}
const words = async () => (await written()).searches.map(({ words }) => words)
const search = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  berth.request("GET", `/v1/directory?${new URLSearchParams(query).toString()}`, { headers })
const soon = { timeout: 15_000, interval: 200 }
const today = () => new Date(berth.now()).toISOString().slice(0, 10)

describe("searches that found nothing", () => {
  row(
    "GET /api/v1/hub/analytics/listings/:id/unmet-searches → 200 { data: { period, searches[], has_more } }",
    async () => {
      expect(await found()).toEqual({ period: "30d", searches: [], has_more: false })
      await search({ search: "  Vegan   DONUTS ", location: "Denver, CO" })
      await search({ search: "vegan donuts", location: "Denver, CO" })
      await search({ search: "knives", city: "DENVER", min_verification: "phone_verified" })
      await search({ search: "ovens", location: "80202" })
      await search({ search: "mills", lat: "39.75", lng: "-105.1", radius_miles: "1" })
      await search({ search: "yeast", location: "Colorado" })
      await search({ category: "Sourdough Bread", location: "Boise, ID" })
      await search({ vertical: "bakery", search: "rye", location: "Reno, NV" })
      // Elsewhere and of another kind; nowhere; nothing but a place; nobody looks; page by page.
      await search({ search: "donuts", location: "Boise, ID" })
      await search({ search: "mills", lat: "41.5", lng: "-105.1", radius_miles: "1" })
      await search({ search: "anything" })
      await search({ location: "Denver, CO" })
      await berth.request("HEAD", "/v1/directory?search=heads&city=denver")
      await search({ search: "last", city: "denver" })
      await expect.poll(words, soon).toContain("last")
      const day = { last_day: today(), times: 1 }
      const { has_more, searches } = await found()
      expect(has_more).toBe(false)
      expect(searches[0]).toEqual({
        words: "vegan donuts",
        city: "denver",
        state: "co",
        near: true,
        times: 2,
        last_day: today()
      })
      expect(searches.slice(1)).toEqual([
        { words: "knives", city: "denver", min_verification: "phone_verified", near: true, ...day },
        { words: "last", city: "denver", near: true, ...day },
        { words: "mills", near: true, ...day },
        { words: "ovens", city: "denver", state: "co", near: true, ...day },
        { words: "yeast", state: "co", near: true, ...day },
        { category: "sourdough bread", city: "boise", state: "id", near: false, ...day },
        { words: "rye", vertical: "bakery", city: "reno", state: "nv", near: false, ...day }
      ])
      const client = await connectMcp(berth.url, { token: owner.token })
      const tool = await callTool(client, "hub_list_unmet_searches", { listingId, period: "30d" })
      expect(tool.structuredContent).toEqual(await found())
      await client.close()
    }
  )

  it("are the owner's only: codes as those of the analytics", async () => {
    const other = await berth.signUp()
    for (
      const [answer, status, code] of [
        [await other.get(path()), 403, "forbidden"],
        [await owner.get(path("01J00000000000000000000000")), 404, "not_found"],
        [await owner.get(path("x")), 400, "invalid_input"],
        [await owner.get(`${path()}?period=1d`), 400, "invalid_input"],
        [await berth.request("GET", path()), 401, "unauthorized"]
      ] as const
    ) expect([answer.status, answer.body]).toEqual([status, failure(code)])
  })

  it("are kept without who asked, and without what tells of a person", async () => {
    const city = "denver"
    for (
      const asked of [
        "Notary for ada.byron@example.com",
        "dentist call me 415 555-0132",
        "lawyer https://me.example/private?x=1",
        `plumber hub_live_${"a1".repeat(18)}`,
        `\u202egnihsif\u0000-less`.replace("\u0000", ""),
        "<script>alert(1)</script>",
        `${"one two three four five six seven eight nine ten "}eleven`
      ]
    ) await search({ search: asked, city })
    await berth.request("GET", "/v1/directory?search=barber+https://evil.example/x&city=denver")
    // A query reaches us as it was sent, also where nothing is percent-encoded.
    await berth.request("GET", "/v1/directory?search=and///or//not+evil.example/x&city=denver")
    await search({ search: "sentinel", city })
    await expect.poll(words, soon).toContain("sentinel")
    expect(await words()).toEqual(expect.arrayContaining([
      "notary for",
      "dentist call me",
      "lawyer",
      "plumber",
      "barber",
      "and///or//not",
      "gnihsif-less",
      "<script>alert(1)</script>",
      "one two three four five six seven eight"
    ]))
    const [{ columns } = {}] = await runSql(
      berth.databaseUrl,
      `SELECT string_agg(column_name, ' ' ORDER BY ordinal_position) AS columns FROM information_schema.columns
       WHERE table_name = 'unmet_searches'`
    )
    expect(columns).toBe("day city state square words category kind verification n")
  })

  it("one caller counts once a day for the same search, and for a hundred different ones at most", async () => {
    const headers = { "x-forwarded-for": "203.0.113.77" }
    for (let i = 0; i < 5; i++) await search({ search: "loud", city: "denver" }, headers)
    for (let i = 0; i < 110; i++) await search({ search: `spam ${i}`, city: "spamtown" }, headers)
    await search({ search: "loud", city: "denver" })
    await expect.poll(async () => (await written()).searches.find(({ words }) => words === "loud")?.times, soon).toBe(2)
    const [{ rows } = {}] = await runSql(
      berth.databaseUrl,
      "SELECT count(*)::int AS rows FROM unmet_searches WHERE city = 'spamtown'"
    )
    expect(rows).toBe(99)
  })

  it("hold up and fail no search: one is answered while they can't be written, and is kept afterwards", async () => {
    const release = await holdLock(berth.databaseUrl, "LOCK TABLE unmet_searches IN ACCESS EXCLUSIVE MODE", [])
    const began = performance.now()
    // The second comes while the first waits to be written.
    for (const asked of ["patience", "virtue"]) {
      expect((await search({ search: asked, city: "denver" })).body).toMatchObject({ data: [] })
      expect(performance.now() - began).toBeLessThan(asked === "patience" ? 2_000 : 9_000)
      berth.hurry(5_000)
      await new Promise((resolve) => setTimeout(resolve, asked === "patience" ? 1_000 : 0))
    }
    await release()
    await expect.poll(words, soon).toEqual(expect.arrayContaining(["patience", "virtue"]))
    expect((await found()).searches.filter(({ words }) => words === "patience")).toMatchObject([{ times: 1 }])
  }, 40_000)
})
