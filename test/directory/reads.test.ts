import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { freshAddress } from "../support/http.ts"
import { itLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

interface Page {
  readonly data: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly id: string }>
  readonly meta: { readonly cursor: string | null; readonly hasMore: boolean; readonly total: number }
}
const get = <Body = Page>(path: string, headers: Readonly<Record<string, string>> = {}) =>
  berth.request<Body>("GET", path, { headers })
const show = (business: Business, visible = true) => owner.patch(`/v1/directory/${business.listingId}`, { visible })

const shown = async (fields: Readonly<Record<string, unknown>> = {}) => {
  const business = await newBusiness(owner, fields)
  await show(business)
  return business
}
const ids = async (query: string) => (await get(`/v1/directory?${query}`)).body.data.map(({ id }) => id)

describe("a listing", () => {
  it("is found as soon as it is shown, as it is after every change, and no longer when hidden or deleted", async () => {
    const business = await newBusiness(owner, { name: "Wandering Heron", templateType: "salon" })
    const edit = (fields: unknown) => owner.patch(`${businesses}/${business.id}`, fields)
    expect(await ids("search=heron")).toEqual([])
    await show(business)
    expect(await ids("search=heron&templateType=salon")).toEqual([business.listingId])
    await edit({
      name: "Settled Bittern",
      templateType: "retail",
      contact: { address: { city: "Oakham", state: "MA" } }
    })
    expect(await ids("search=heron")).toEqual([])
    expect(await ids("search=bitern&city=OAKHAM&location=ma&templateType=retail")).toEqual([business.listingId])
    // Nobody named an industry, so that it goes with the template type.
    expect(await ids("search=bittern&vertical=retail")).toEqual([business.listingId])
    expect(await ids("search=bittern&vertical=salon")).toEqual([])
    await owner.patch(`${businesses}/${business.id}/listing`, { categories: ["Birds"], name: "Marsh" })
    expect(await ids("category=Birds&search=marsh")).toEqual([business.listingId])
    await show(business, false)
    expect((await get("/v1/directory?search=marsh")).body).toEqual({
      data: [],
      meta: { cursor: null, hasMore: false, total: 0 }
    })
    expect((await get(`/v1/directory/${business.listingId}`)).status).toBe(404)
    await show(business)
    await owner.request("DELETE", `${businesses}/${business.id}`)
    expect(await ids("category=Birds")).toEqual([])
    expect((await get("/v1/directory?category=Birds")).body.meta.total).toBe(0)
  })

  it("leaves no trace with its project or its account", async () => {
    const business = await shown({ name: "Quillwort Nursery" })
    expect(await ids("search=quillwort")).toEqual([business.listingId])
    const before = (await get("/v1/directory")).body.meta.total
    await owner.request("DELETE", `/v1/projects/${business.projectId}`)
    expect(await ids("search=quillwort")).toEqual([])
    expect((await get("/v1/directory")).body.meta.total).toBe(before - 1)
    const rows = await runSql(berth.databaseUrl, "SELECT FROM directory_entries WHERE listing_id = $1", [
      business.listingId
    ])
    expect(rows).toEqual([])
  })

  it("is read with where its server is, its industry and its website", async () => {
    const business = await shown({ name: "Served", industry: "oysters" })
    const server = await owner.server(business.projectId)
    const read = async () =>
      dataOf(await get<{ data: Readonly<Record<string, unknown>> }>(`/v1/directory/${business.listingId}`))
    expect(await read()).toMatchObject({ mcpServerUrl: "", industry: "oysters", website: "" })
    await owner.patch(`${businesses}/${business.id}`, {
      serverId: server.id,
      contact: { website: "https://served.example" }
    })
    const listing = await read()
    expect(listing).toMatchObject({ mcpServerUrl: `${server.publicUrl}/mcp`, website: "https://served.example" })
    expect(Object.keys(listing).sort()).toEqual(
      ("businessId businessName businessSlug categories city description featuredImageUrl id industry mcpServerUrl " +
        "name publishedAt relevanceScore state tags verificationLevel website").split(" ")
    )
  })

  it("that is none is 404, whatever stands in its place", async () => {
    for (const id of ["x", "01J00000000000000000000000", "%00", "..", "%F0%9F%92%A9"]) {
      const answer = await get(`/v1/directory/${id}`)
      expect([answer.status, answer.body], id).toEqual([404, failure("not_found")])
    }
  })
})

describe("a query", () => {
  it("that is wrong is 400, and says where", async () => {
    const wrong = {
      limit: ["limit=0", "limit=101", "limit=x", "limit=1.5", "limit="],
      cursor: ["cursor=x", "cursor=", "cursor=%00"],
      search: ["search=%00", `search=${"x".repeat(201)}`, "search=a&search=b"],
      category: [`category=${"x".repeat(256)}`],
      location: ["location=%00"],
      city: ["city=a&city=b"],
      vertical: ["vertical=a&templateType=b"],
      min_verification: ["min_verification=unverified", "min_verification=3", "min_verification="],
      lat: ["lat=91&lng=0&radius_miles=1", "lat=NaN&lng=0&radius_miles=1", "lng=0&radius_miles=1"],
      lng: ["lat=0&lng=-180.1&radius_miles=1", "lat=0&radius_miles=5"],
      radius_miles: ["lat=0&lng=0&radius_miles=25001", "lat=0&lng=0&radius_miles=-1", "lat=0&lng=0"]
    }
    for (const [path, queries] of Object.entries(wrong)) {
      for (const query of queries) {
        const answer = await get<{ error: { code: string; message: string } }>(`/v1/directory?${query}`)
        expect([answer.status, answer.body.error.code], query).toEqual([400, "bad_request"])
        expect(answer.body.error.message, query).toEqual(expect.stringContaining(path))
      }
    }
  })

  it("may have blank texts, and the same thing by two names", async () => {
    const business = await shown({ name: "Blank", industry: "blankness" })
    const query = "vertical=blankness&templateType=blankness&search=&city=%20&category=&location="
    expect(await ids(query)).toEqual([business.listingId])
  })

  it("takes no cursor of another query, but one with another limit", async () => {
    for (const name of ["Turn One", "Turn Two", "Turn Three"]) await shown({ name, industry: "turns" })
    const first = (await get("/v1/directory?vertical=turns&limit=1")).body
    expect([first.meta.total, first.meta.hasMore]).toEqual([3, true])
    const cursor = first.meta.cursor ?? ""
    const rest = (await get(`/v1/directory?vertical=turns&limit=50&cursor=${cursor}`)).body
    expect([rest.data.length, rest.meta]).toEqual([2, { cursor: null, hasMore: false, total: 3 }])
    for (const query of ["", "vertical=turn", "vertical=turns&search=turn", "vertical=turns&city=x"]) {
      expect((await get(`/v1/directory?${query}&cursor=${cursor}`)).status, query).toBe(400)
    }
    expect((await owner.get(`/v1/projects?cursor=${cursor}`)).status).toBe(400)
    const [list = ""] = Buffer.from(cursor, "base64url").toString().split("\n")
    for (const key of ["0 0 9999999999", "9999999999 0 0", "0 0", "0 0 0 0", "-1 0 0"]) {
      const forged = Buffer.from(`${list}\n${key}`).toString("base64url")
      expect((await get(`/v1/directory?vertical=turns&cursor=${forged}`)).status, key).toBe(400)
    }
  })
})

describe("reads", () => {
  itLong("are 300 a minute for an address, list and detail together, whoever asks", async () => {
    const business = await shown({ name: "Counted" })
    const headers = { "x-forwarded-for": freshAddress() }
    const paths = ["/v1/directory?limit=1", `/v1/directory/${business.listingId}`]
    for (let i = 0; i < 300; i += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) =>
        n % 4 === 0
          ? owner.request("GET", paths[n % 2]!, { headers })
          : berth.request(n % 4 === 1 ? "HEAD" : "GET", paths[n % 2]!, { headers })))
      for (const { headers, status } of answers) {
        expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "300"])
      }
    }
    for (const holder of [berth, owner]) {
      const refused = await holder.request("GET", paths[0]!, { headers })
      expect([refused.status, refused.body]).toEqual([429, failure("rate_limited")])
      expect(Number(refused.headers.get("retry-after"))).toSatisfy((seconds: number) => seconds >= 1 && seconds <= 60)
      expect([refused.headers.get("x-ratelimit-limit"), refused.headers.get("x-ratelimit-remaining")])
        .toEqual(["300", "0"])
    }
    // Elsewhere, and from elsewhere, nothing is used up.
    expect((await get("/v1/health", headers)).headers.get("x-ratelimit-limit")).toBe("100")
    expect((await get("/.well-known/mcp-server-metadata?subdomain=x", headers)).status).toBe(404)
    expect((await show(business)).status).toBe(200)
    expect((await get(paths[0]!)).status).toBe(200)
  }, 60_000)

  it("count as views and impressions of a search, by day, and as interactions of the business", async () => {
    const business = await shown({ name: "Xylophonist" })
    const server = await owner.server(business.projectId)
    await owner.patch(`${businesses}/${business.id}`, { serverId: server.id })
    for (let i = 0; i < 3; i++) await get(`/v1/directory/${business.listingId}`)
    await get("/v1/directory?search=xylophonist")
    await get("/v1/directory?search=xylofonist&limit=1")
    await get("/v1/directory?limit=100")
    const counted = async () =>
      (await get<{ business: { interactionCount: number } }>(
        `/.well-known/mcp-server-metadata?subdomain=${server.slug}`
      )).body.business.interactionCount
    await expect.poll(counted, { timeout: 10_000 }).toBe(5)
    const rows = await runSql(
      berth.databaseUrl,
      "SELECT kind, n::int, day = (now() AT TIME ZONE 'UTC')::date AS today FROM listing_events WHERE listing_id = $1 ORDER BY 1",
      [business.listingId]
    )
    expect(rows).toEqual([{ kind: "search_impression", n: 2, today: true }, { kind: "view", n: 3, today: true }])
  })
})
