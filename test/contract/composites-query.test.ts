import { beforeAll, describe, expect, it } from "vitest"
import { idOf } from "../composites/model.ts"
import { seedOf, store } from "../composites/seeds.ts"
import { type Account, dataOf, Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"

const berth = useBerth()
const path = "/v1/hub/composites"
let owner: Account
let hub: Holder
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  hub = await keyOf("explorer")
  await store(berth.databaseUrl, owner, [
    seedOf({ name: "Copper Ladle", tier: "premium", trust: 3, health: 90 }),
    seedOf({ name: "Tin Ladle", trust: 2, health: 85 }),
    seedOf({ name: "Rusty Ladle", trust: 3, health: 49 }),
    seedOf({
      name: "Snip",
      city: "San José",
      state: "CA",
      industry: "nail_salon",
      trust: 3,
      tier: "featured",
      categories: ["Nails"]
    })
  ])
})

const keyOf = async (tier: string) =>
  new Holder(
    berth,
    dataOf(await owner.request<{ data: { key: string } }>("POST", "/api/v1/hub/api-keys", { body: { tier } })).key
  )

describe("the dynamic query of composites", () => {
  row("GET /v1/hub/composites → composites computed now", async () => {
    const answer = await hub.request<{ data: ReadonlyArray<Record<string, unknown>> }>("GET", path)
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"])
    expect(answer.body).toMatchObject({
      data: [
        { name: "San José Nail Salon", compositeTrust: 3, avgHealthScore: 100, memberCount: 1 },
        {
          id: idOf("restaurant", "tx", "austin"),
          created_by: "system",
          userId: null,
          name: "Austin Restaurant",
          slug: "austin-restaurant-tx",
          description: "Restaurant in Austin, TX",
          visibility: "public",
          query_definition: { vertical: "restaurant", city: "Austin", state: "TX" },
          compositeTrust: 2,
          avgHealthScore: 87.5,
          memberCount: 2,
          skillMdUrl: null,
          expiresAt: null,
          promotedAt: null,
          members: [
            {
              listing_id: expect.any(String) as string,
              name: "Copper Ladle",
              businessSlug: expect.any(String) as string,
              mcpServerUrl: "",
              listing_tier: "premium",
              verification_tier: 3,
              health_score: 90,
              capability_doc_url: null,
              tools: []
            },
            { name: "Tin Ladle", health_score: 85 }
          ]
        }
      ],
      meta: { cursor: null, hasMore: false, total: 2 }
    })
  })

  row(
    "composites: health below 50 is no member; trust is the lowest verification tier, avgHealthScore the mean",
    async () => {
      const health = (score: number) =>
        runSql(berth.databaseUrl, "UPDATE listings SET health_score = $1 WHERE name = 'Tin Ladle'", [score])
      const count = async () =>
        (await hub.request<{ data: ReadonlyArray<{ memberCount: number }> }>("GET", `${path}?city=austin`)).body.data[0]
      await health(49)
      expect(await count()).toMatchObject({ memberCount: 1, compositeTrust: 3, avgHealthScore: 90 })
      await health(85)
      expect(await count()).toMatchObject({ memberCount: 2, compositeTrust: 2, avgHealthScore: 87.5 })
    }
  )

  row(
    "dynamic query: compositeTrust × avgHealthScore × mean listing tier, then id; verification_tier_min keeps whole composites",
    async () => {
      const names = async (query: string) =>
        (await hub.request<{ data: ReadonlyArray<{ name: string }> }>("GET", `${path}?${query}`)).body.data
          .map(({ name }) => name)
      expect(await names("verification_tier_min=3")).toEqual(["San José Nail Salon"])
      expect(await names("verification_tier_min=2")).toEqual(["San José Nail Salon", "Austin Restaurant"])
      expect(await names("min_members=2")).toEqual(["Austin Restaurant"])
      expect(await names("search=copper+ladle&health_score_min=90")).toEqual(["Austin Restaurant"])
      expect(await names("category=Nails")).toEqual(["San José Nail Salon"])
      expect(await names("category=nobody")).toEqual([])
      expect(await names("vertical=&city=&tags=")).toEqual(["San José Nail Salon", "Austin Restaurant"])
    }
  )

  it("needs a hub key of any tier or a session: 401 without one, and for a platform key", async () => {
    const { id } = await owner.project()
    const others = [berth, await owner.holder(id), new Holder(berth, "hub_live_x")]
    for (const holder of others) {
      const answer = await holder.request<{ error: { code: string } }>("GET", path)
      expect([answer.status, answer.body.error.code]).toEqual([401, "unauthorized"])
    }
    expect((await owner.request("GET", path)).status).toBe(200)
    for (const tier of ["builder", "partner"]) expect((await (await keyOf(tier)).request("GET", path)).status).toBe(200)
  })

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=1e1", "limit"],
    ["min_members=0", "min_members"],
    ["verification_tier_min=4", "verification_tier_min"],
    ["verification_tier_min=1.5", "verification_tier_min"],
    ["health_score_min=49", "health_score_min"],
    ["listing_tier=gold", "listing_tier"],
    ["lat=91&lng=0&radius_miles=1", "lat"],
    ["lat=30", "lng"],
    ["radius_miles=3&lng=2", "lat"],
    ["listing_ids=nope", "listing_ids.0"],
    [`listing_ids=${"01ARZ3NDEKTSV4RRFFQ69G5FAV,".repeat(50)}01ARZ3NDEKTSV4RRFFQ69G5FAV`, "listing_ids"],
    ["city=a&city=b", "city"],
    ["city=a%00", "city"],
    ["search=%00", "search"],
    ["city=%25", "city"],
    ["vertical=-", "vertical"],
    ["state=%25", "state"],
    ["state=%E2%80%AE", "state"],
    ["state=TX%07", "state"],
    ["city=%E2%80%AE", "city"],
    ["category=%E2%80%AE", "category"],
    ["citty=Austin", "citty"],
    [`search=${"x".repeat(201)}`, "search"],
    [`city=${"x".repeat(256)}`, "city"],
    ["cursor=nope", "cursor"]
  ])("400 validation_error, %s", async (query, where) => {
    const answer = await hub.request<{ error: { code: string; details: { issues: ReadonlyArray<{ path: string }> } } }>(
      "GET",
      `${path}?${query}`
    )
    expect([answer.status, answer.body.error.code], answer.text).toEqual([400, "validation_error"])
    expect(answer.body.error.details.issues.map((issue) => issue.path)).toContain(where)
  })

  it("says of a filter that it is given more than once, but of a list, which may come in parts", async () => {
    const messageOf = async (query: string) =>
      (await hub.request<{ error?: { message: string } }>("GET", `${path}?${query}`)).body.error?.message
    expect(await messageOf("city=a&city=b&limit=1&limit=2")).toBe(
      "city: is given more than once; limit: is given more than once"
    )
    expect(await messageOf("tags=a&tags=b")).toBeUndefined()
  })

  it("takes a cursor with the filters it was given for, and no other", async () => {
    interface Page {
      readonly data: ReadonlyArray<{ readonly name: string }>
      readonly meta: { readonly cursor: string | null }
    }
    const first = await hub.request<Page>("GET", `${path}?limit=1`)
    const cursor = encodeURIComponent(first.body.meta.cursor ?? "")
    const second = await hub.request<Page>("GET", `${path}?limit=1&cursor=${cursor}`)
    expect(second.body).toMatchObject({ data: [{ name: "Austin Restaurant" }], meta: { cursor: null, hasMore: false } })
    expect((await hub.request("GET", `${path}?city=austin&cursor=${cursor}`)).status).toBe(400)
  })

  it("keeps none under its id: the 404 says how to, and the query_definition makes one of the same members", async () => {
    interface Found {
      readonly data: ReadonlyArray<{ id: string; name: string; query_definition: object; memberCount: number }>
    }
    const found = await hub.request<Found>("GET", `${path}?city=Austin`)
    const { id, memberCount, name, query_definition } = found.body.data[0]!
    for (const at of [`${path}/${id}`, `${path}/${id}/skill.md`]) {
      const answer = await hub.request("GET", at)
      expect([answer.status, answer.text], at).toEqual([
        404,
        expect.stringContaining("of its query_definition by POST")
      ])
    }
    const unknown = await hub.request("GET", `${path}/01ARZ3NDEKTSV4RRFFQ69G5FAV`)
    expect([unknown.status, unknown.text]).toEqual([404, expect.not.stringContaining("query_definition")])
    expect(await compose(hub, { name, query_definition })).toMatchObject({ memberCount })
  })

  it("is the tool hub_composites: the same answers and the same failures", async () => {
    const client = await connectMcp(berth.url, { token: hub.token })
    for (
      const [args, query] of [
        [{}, ""],
        [{ city: "Austin", min_members: 2 }, "city=Austin&min_members=2"],
        [{ limit: "1" }, "limit=1"]
      ] as const
    ) {
      const result = await callTool(client, "hub_composites", args)
      const { body } = await hub.request<{ data: ReadonlyArray<object> }>("GET", `${path}?${query}`)
      const timeless = (value: unknown) =>
        JSON.parse(JSON.stringify(value, (key, item: unknown) => /At$/.test(key) ? typeof item : item)) as unknown
      expect(timeless(result.structuredContent)).toEqual(timeless(body))
    }
    const queries = [
      ["hub_composites", path, { lat: 30, limit: 0 }],
      ["hub_composites", path, { citty: "Austin" }],
      ["hub_browse_composites", `${path}/browse`, { citty: "Austin" }],
      ["hub_skills", "/.well-known/mcp-skills", { listing: "x" }]
    ] as const
    for (const [tool, at, args] of queries) {
      const wrong = await callTool(client, tool, args)
      const query = new URLSearchParams(
        Object.entries(args).map(([name, value]): [string, string] => [name, String(value)])
      )
      const { status, text } = await hub.request("GET", `${at}?${query}`)
      expect([status, wrong.isError, textOf(wrong)]).toEqual([400, true, JSON.parse(text)])
    }
    await client.close()
  })
})
