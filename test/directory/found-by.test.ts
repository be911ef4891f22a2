import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { callTool, connectMcp } from "../support/mcp.ts"

const berth = useBerth()
let owner: Account
let projectId = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
})

interface Found {
  readonly id: string
  readonly name: string
  readonly categories: ReadonlyArray<string>
  readonly mcpServerUrl: string
  readonly distanceMiles?: number
  readonly distanceIsApproximate?: boolean
}
interface Page {
  readonly data: ReadonlyArray<Found>
  readonly meta: { readonly cursor: string | null; readonly total: number }
}
const page = async (query: Readonly<Record<string, string>>) =>
  (await berth.request<Page>("GET", `/v1/directory?${new URLSearchParams(query)}`)).body
const names = async (query: Readonly<Record<string, string>>) => (await page(query)).data.map(({ name }) => name).sort()

const listed = async (fields: Readonly<Record<string, unknown>>, profile: Readonly<Record<string, unknown>> = {}) => {
  const business = await newBusiness(owner, { projectId, ...fields })
  if (Object.keys(profile).length > 0) await owner.patch(`${businesses}/${business.id}`, profile)
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
  return business
}
const at = (city: string, state: string, rest: Readonly<Record<string, unknown>> = {}) => ({
  contact: { address: { city, state, ...rest } }
})

describe("a listing's categories", () => {
  it("are the business's category and its template, until its owner sets others, and again after null", async () => {
    const { id } = await listed({ name: "Pho Basil", templateType: "restaurant" }, { category: "Vietnamese" })
    const own = async (categories: unknown) => (await owner.patch(`${businesses}/${id}/listing`, { categories })).status
    const categories = async () => (await page({ search: "pho basil" })).data[0]?.categories
    expect(await categories()).toEqual(["Vietnamese", "Restaurant"])
    expect(await names({ category: "Vietnamese" })).toEqual(["Pho Basil"])
    await owner.patch(`${businesses}/${id}`, { category: "Restaurant" })
    expect(await categories()).toEqual(["Restaurant"])

    expect(await own(["Noodles"])).toBe(200)
    await owner.patch(`${businesses}/${id}`, { category: "Vietnamese" })
    expect(await categories()).toEqual(["Noodles"])
    expect(await own([])).toBe(200)
    expect(await categories()).toEqual([])
    expect(await own(null)).toBe(200)
    expect(await categories()).toEqual(["Vietnamese", "Restaurant"])
  })

  it("say nothing of a custom template", async () => {
    await listed({ name: "Odd Emporium" })
    expect((await page({ search: "odd emporium" })).data[0]?.categories).toEqual([])
  })
})

describe("location", () => {
  beforeAll(async () => {
    await listed({ name: "Mile High" }, at("Denver", "CO"))
    await listed({ name: "Mile Low" }, at("Denver", "Colorado"))
    await listed({ name: "Mile East" }, at("Denver", "PA"))
    await listed({ name: "Big Apple" }, at("New York", "ny"))
    await listed({ name: "Golden Gate" }, at("San Francisco", "California"))
  })
  it.each([
    ["Denver, CO", ["Mile High", "Mile Low"]],
    ["denver colorado", ["Mile High", "Mile Low"]],
    ["Denver, CO 80202", ["Mile High", "Mile Low"]],
    ["80202", ["Mile High", "Mile Low"]],
    ["80202-1234", ["Mile High", "Mile Low"]],
    ["colorado", ["Mile High", "Mile Low"]],
    ["Denver, Pennsylvania", ["Mile East"]],
    ["New York, NY", ["Big Apple"]],
    ["new york", ["Big Apple"]],
    ["10001", ["Big Apple"]],
    ["ca", ["Golden Gate"]],
    ["California", ["Golden Gate"]],
    ["denv", ["Mile East", "Mile High", "Mile Low"]],
    ["00000", []],
    ["Denver, CO, France", []]
  ])("%s finds %j", async (location, found) => {
    expect(await names({ location })).toEqual(found)
    expect((await page({ location, limit: "1" })).meta.total).toBe(found.length)
  })

  it("overlooks accents, dots and Saint for St., and knows a business by its own zip code", async () => {
    await listed({ name: "Arch One" }, at("St. Louis", "MO", { zip: "63102" }))
    await listed({ name: "Arch Two" }, at("Saint Louis", "Missouri"))
    await listed({ name: "Alps" }, at("Zürich", "ZH"))
    await listed({ name: "Capitol" }, at("Washington", "DC"))
    await listed({ name: "No Town" }, at("", "", { zip: "94110" }))
    const both = ["Arch One", "Arch Two"]
    for (const location of ["St Louis, MO", "saint louis", "St. Louis", "63102", "Saint Louis, Missouri, USA"]) {
      expect(await names({ location }), location).toEqual(both)
      expect((await page({ location, limit: "1" })).meta.total).toBe(2)
    }
    expect(await names({ location: "zurich" })).toEqual(["Alps"])
    expect(await names({ location: "Washington, D.C." })).toEqual(["Capitol"])
    expect(await names({ location: "94110" })).toContain("No Town")
    expect(await names({ location: "94110", search: "no town" })).toEqual(["No Town"])
    expect(await names({ location: "63102", city: "st. louis" })).toEqual(["Arch One"])
    const { data } =
      (await berth.request<{ data: { total: number } }>("GET", "/v1/directory/facets?location=63102")).body
    expect(data.total).toBe(2)
    await owner.patch(
      `/api/v1/ready/businesses/${(await listed({ name: "Moved" }, at("Nowhere", "", { zip: "63102" }))).id}`,
      {
        contact: { address: { zip: "73301" } }
      }
    )
    expect(await names({ location: "63102" })).toEqual(both)
  })

  it("in a search is a state by both its names", async () => {
    await listed({ name: "Tampa Bakery" }, at("Tampa", "FL"))
    expect(await names({ search: "bakery florida" })).toEqual(["Tampa Bakery"])
    expect(await names({ search: "tampa fl" })).toEqual(["Tampa Bakery"])
  })

  it("narrows a city, and a search", async () => {
    expect(await names({ city: "denver", location: "Denver, CO" })).toEqual(["Mile High", "Mile Low"])
    expect(await names({ search: "mile", location: "Colorado" })).toEqual(["Mile High", "Mile Low"])
  })
})

describe("a search around a point", () => {
  const around = { lat: "39.7392", lng: "-104.9903", radius_miles: "100" }

  it("finds a business that has a zip code and no coordinates, and says that its place is approximate", async () => {
    await listed({ name: "Zipped" }, at("Boulder", "CO", { zip: "80302" }))
    await listed({ name: "Abroad" }, at("Boulder", "", { zip: "80302", country: "Germany" }))
    await listed({ name: "Pinned" }, {
      contact: { address: { zip: "10001" }, coordinates: { lat: 39.75, lng: -105 } }
    })
    const found = (await page({ ...around, search: "zipped" })).data
    expect(found).toMatchObject([{ name: "Zipped", distanceIsApproximate: true }])
    expect(found[0]?.distanceMiles).toBeGreaterThan(15)
    expect(found[0]?.distanceMiles).toBeLessThan(40)
    const [pinned] = (await page({ ...around, search: "pinned" })).data
    expect(pinned).not.toHaveProperty("distanceIsApproximate")
    expect((await page({ ...around, search: "abroad" })).data).toEqual([])
  })

  it("lists the nearest first when asked to, over all pages, also among the words of a search", async () => {
    for (const [i, miles] of [50, 5, 30, 5, 80, 1].entries()) {
      await listed({ name: `Ring ${i}` }, { contact: { coordinates: { lat: 39.7392 + miles / 69, lng: -104.9903 } } })
    }
    for (const search of [{}, { search: "ring" }]) {
      const distances: Array<number> = []
      const seen: Array<string> = []
      let cursor: string | null | undefined
      do {
        const next: Page = await page({
          ...around,
          ...search,
          sort: "distance",
          limit: "2",
          ...(cursor === undefined ? {} : { cursor: cursor ?? "" })
        })
        distances.push(...next.data.map(({ distanceMiles }) => distanceMiles ?? Infinity))
        seen.push(...next.data.map(({ id }) => id))
        cursor = next.meta.cursor
      } while (cursor !== null)
      expect(distances.length).toBeGreaterThanOrEqual(6)
      expect(distances).toEqual(distances.toSorted((a, b) => a - b))
      expect(new Set(seen).size).toBe(seen.length)
    }
  })

  it("can't be sorted by distance without its centre, by HTTP and by tool", async () => {
    const issues = [{ path: "sort", message: "distance needs lat, lng and radius_miles" }]
    const answer = await berth.request("GET", "/v1/directory?sort=distance")
    expect([answer.status, answer.body]).toEqual([400, failure("bad_request", { issues })])
    expect((await berth.request("GET", "/v1/directory?sort=name")).status).toBe(400)
    const client = await connectMcp(berth.url, { token: owner.token })
    expect((await callTool(client, "directory_search", { sort: "distance" })).isError).toBe(true)
    const sorted = await callTool(client, "directory_search", {
      sort: "distance",
      lat: 39.7392,
      lng: -104.9903,
      radius_miles: 100,
      limit: 1
    })
    expect(sorted.structuredContent).toMatchObject({ data: [{ name: "Pinned" }] })
    await client.close()
  })
})

it("a search's results say where each one's server is reached", async () => {
  const server = await owner.server(projectId, { slug: "reachable" })
  await listed({ name: "Reachable" }, { serverId: server.id })
  await listed({ name: "Unreachable" })
  expect((await page({ search: "reachable" })).data[0]?.mcpServerUrl).toBe(`${server.publicUrl}/mcp`)
  expect((await page({ search: "unreachable" })).data[0]?.mcpServerUrl).toBe("")
})
