import { DynamicPage } from "#src/composites/DynamicComposite.ts"
import { FastCheck as fc, Schema } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { chooseBroadLabels, delayBroadLabels, foldComposites } from "./fold.ts"
import { answerOf, type Question, type Seed } from "./model.ts"
import { change, seedOf, store } from "./seeds.ts"
import { wrongLabelSteps } from "./wrong-counts.ts"

const berth = useBerth()
let owner: Account
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  await delayBroadLabels(berth.databaseUrl)
  owner = await berth.signUp("enterprise")
  const { key } = dataOf(
    await owner.request<{ data: { key: string } }>("POST", "/api/v1/hub/api-keys", { body: { tier: "partner" } })
  )
  headers = { authorization: `Bearer ${key}` }
})

interface Shown {
  readonly id: string
  readonly name: string
  readonly memberCount: number
  readonly compositeTrust: number
  readonly avgHealthScore: number
  readonly skillMdUrl: string | null
  readonly members: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const ask = (question: Question) =>
  berth.request<Listed<Shown>>(
    "GET",
    `/v1/hub/composites?${new URLSearchParams(
      Object.entries(question).map(([name, value]) => [name, String(value)] as [string, string])
    )}`,
    { headers }
  )

/** Every composite, page by page. */
const pages = async (question: Question, limit: number) => {
  const shown: Array<Shown> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const answer = await ask({ ...question, limit, ...(cursor === "" ? {} : { cursor }) })
    expect(answer.status, answer.text).toBe(200)
    shown.push(...answer.body.data)
    cursor = answer.body.meta.cursor
    expect(answer.body.meta.hasMore).toBe(cursor !== null)
    expect(answer.body.data.length).toBeLessThanOrEqual(limit)
  }
  return shown
}

const weights = { basic: 1, featured: 2, premium: 3 } as const
const seen = (shown: ReadonlyArray<Shown>) =>
  shown.map(({ avgHealthScore, compositeTrust, id, memberCount, members }) => ({
    id,
    memberCount,
    compositeTrust,
    avgHealthScore,
    best: members.map((one) =>
      Number(one["verification_tier"]) * Number(one["health_score"]) * weights[one["listing_tier"] as "basic"]
    )
  }))
const expected = (all: ReadonlyArray<Seed>, question: Question) =>
  answerOf(all, question).map(({ rank: _, ...one }) => one)

const generated = (size: number) =>
  fc.sample(
    fc.record({
      industry: fc.constantFrom("restaurant", "Nail_Salon", "nail salon", "barber", "custom"),
      place: fc.constantFrom(
        ["Austin", "TX"],
        ["AUSTIN", "Texas"],
        ["San José", "CA"],
        ["San Jose", "california"],
        ["St. Louis", "MO"],
        ["Saint Louis", "MO"],
        ["Suva", ""],
        ["", "TX"]
      ),
      tier: fc.constantFrom("basic", "featured", "premium"),
      trust: fc.constantFrom(0, 1, 2, 2, 3, 3),
      health: fc.constantFrom(0, 49, 50, 75, 100),
      active: fc.constantFrom(true, true, true, false),
      categories: fc.subarray(["Food", "Hair"]),
      tags: fc.subarray(["vegan", "open late", "halal", "new"]),
      lat: fc.double({ min: 29, max: 31, noNaN: true }),
      lng: fc.double({ min: -98, max: -96, noNaN: true })
    }),
    { numRuns: size, seed: 5 }
  ).map(({ place: [city = "", state = ""], ...one }) => seedOf({ ...one, city, state } as Partial<Seed>))

const questions = (all: ReadonlyArray<Seed>): ReadonlyArray<Question> => [
  {},
  { vertical: "NAIL-salon" },
  { state: "texas" },
  { state: "ca", vertical: "nail salon" },
  { city: "san josé" },
  { city: "Saint Louis", state: "Missouri" },
  { verification_tier_min: 2 },
  { verification_tier_min: 3, vertical: "restaurant" },
  { min_members: 3 },
  { min_members: 10, verification_tier_min: 1 },
  { health_score_min: 75 },
  { health_score_min: 100, state: "TX" },
  { health_score_min: 75, min_members: 2, verification_tier_min: 2 },
  { health_score_min: 60, city: "Austin" },
  { health_score_min: 51, vertical: "nail salon", listing_tier: "basic" },
  { listing_tier: "premium", min_members: 2 },
  { listing_tier: "featured", state: "CA", vertical: "barber" },
  { category: "Food" },
  { category: "Hair", city: "Austin", verification_tier_min: 1 },
  { category: "Hair", vertical: "barber", health_score_min: 75 },
  { category: "hair" },
  { category: "Food", tags: "vegan", listing_tier: "premium" },
  { category: "Food", min_members: 2 },
  { category: "Food", verification_tier_min: 2, min_members: 5 },
  { tags: "vegan" },
  { tags: "Food" },
  { tags: "vegan", min_members: 2, verification_tier_min: 1 },
  { tags: "vegan", min_members: 7 },
  { tags: "open late", health_score_min: 75 },
  { tags: "open late", city: "Austin", state: "TX" },
  { tags: "vegan,open late" },
  { tags: "open late,vegan,open late", state: "CA" },
  { category: "Food", tags: "vegan,halal,open late,new", state: "TX" },
  { tags: "vegan,open late", health_score_min: 75, state: "TX" },
  { tags: "halal,vegan", min_members: 2, verification_tier_min: 1 },
  { tags: "vegan,halal", listing_tier: "featured" },
  { category: "Food", tags: "new", vertical: "restaurant" },
  { tags: "vegan", listing_tier: "premium", health_score_min: 60 },
  { category: "Hair", state: "ca", vertical: "nail salon", min_members: 5 },
  { tags: "vegan", lat: 30, lng: -97, radius_miles: 60 },
  { tags: "vegan", vertical: "barber" },
  { lat: 30, lng: -97, radius_miles: 40 },
  { lat: 30, lng: -97, radius_miles: 60, health_score_min: 75, category: "Food" },
  { listing_ids: all.slice(0, 20).map(({ id }) => id).join(",") }
]

const broadLabels = () =>
  runSql(
    berth.databaseUrl,
    "SELECT count(*)::int AS all, count(*) FILTER (WHERE is_ready)::int AS ready FROM composite_broad_labels"
  )

describe("the dynamic query, beside a model of it", () => {
  it(
    "answers the same for every filter, also while what changed is not counted yet, and with broad labels",
    async () => {
      let all: ReadonlyArray<Seed> = generated(300)
      await store(berth.databaseUrl, owner, all)
      const same = async (which: (question: Question) => boolean = () => true) => {
        for (const question of questions(all).filter(which)) {
          const shown = await pages(question, 3)
          expect(seen(shown), JSON.stringify(question)).toEqual(expected(all, question))
          expect((await ask(question)).body.meta.total, JSON.stringify(question)).toBe(shown.length)
        }
      }
      await same()
      await foldComposites(berth.databaseUrl)
      await chooseBroadLabels(berth.databaseUrl, 20)
      await same()
      const fresh = generated(600).slice(300)
      all = all.map((one, at) =>
        at % 3 === 0
          ? { ...fresh[at]!, id: one.id, lat: one.lat, lng: one.lng }
          : at % 3 === 1
          ? { ...one, categories: fresh[at]!.categories, tags: fresh[at]!.tags }
          : one
      )
      await change(berth.databaseUrl, all)
      await same()
      await foldComposites(berth.databaseUrl)
      expect(await broadLabels()).toEqual([{ all: 6, ready: 6 }])
      expect(await wrongLabelSteps(berth.databaseUrl)).toEqual([])
      await same()
      await chooseBroadLabels(berth.databaseUrl, 1_000)
      expect(await broadLabels()).toEqual([{ all: 6, ready: 0 }])
      await same(({ category, tags }) => category !== undefined || tags !== undefined)
      await chooseBroadLabels(berth.databaseUrl, 1_000)
      expect(await broadLabels()).toEqual([{ all: 0, ready: 0 }])
      expect(await runSql(berth.databaseUrl, "TABLE composite_label_steps")).toEqual([])
      expect(await runSql(berth.databaseUrl, "TABLE composite_label_step_totals")).toEqual([])
    },
    120_000
  )
})

it("a page is JSON of the documented fields alone, as they are encoded", async () => {
  await store(berth.databaseUrl, owner, generated(30))
  const { body } = await ask({ limit: 3 })
  expect(body.data).toHaveLength(3)
  const decoded = Schema.decodeUnknownSync(DynamicPage, { onExcessProperty: "error" })(body)
  expect(body).toEqual(Schema.encodeSync(DynamicPage)(decoded))
})
