import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("pro")
})

const patch = async (id: string, body: unknown) =>
  dataOf(await owner.patch<{ data: Business }>(`${businesses}/${id}`, body))

interface OwnListing {
  readonly name: string
  readonly description: string
  readonly status: string
  readonly tier: string
  readonly relevanceScore: number
  readonly publishedAt: string | null
}
const patchListing = async (id: string, body: unknown) =>
  dataOf(await owner.patch<{ data: OwnListing }>(`${businesses}/${id}/listing`, body))

describe("a business", () => {
  it("is made with gaps for what is not known, and a slug of its name", async () => {
    const made = await newBusiness(owner, { name: "Café Überall" })
    expect(made).toMatchObject({
      serverId: null,
      slug: expect.stringMatching(/^cafe-uberall/) as string,
      description: "",
      industry: "custom",
      templateType: "custom",
      contact: { phone: "", address: { city: "" }, coordinates: null },
      hours: {},
      featureFlags: { appointmentBooking: false, faq: false, menuBrowsing: false },
      verificationLevel: "unverified",
      profileCompleteness: 0
    })
    expect(made.id).toMatch(/^[0-9A-Z]{26}$/)
    expect(made.listingId).toMatch(/^[0-9A-Z]{26}$/)
  })

  it("keeps what a change does not name, within contact, address and flags too", async () => {
    const { id } = await newBusiness(owner)
    await patch(id, {
      contact: {
        phone: "+15550100",
        address: { city: "Millbrook", zip: "60601" },
        coordinates: { lat: 41.5, lng: -87 }
      },
      featureFlags: { faq: true },
      hours: { monday: "closed", friday: { open: "11:30", close: "01:00" } }
    })
    const changed = await patch(id, { contact: { address: { city: "Oakham" } }, featureFlags: { menuBrowsing: true } })
    expect(changed.contact).toMatchObject({
      phone: "+15550100",
      address: { city: "Oakham", zip: "60601" },
      coordinates: { lat: 41.5, lng: -87 }
    })
    expect(changed.featureFlags).toMatchObject({ faq: true, menuBrowsing: true, quoteRequests: false })
    expect(changed.hours).toEqual({ monday: "closed", friday: { open: "11:30", close: "01:00" } })
    expect(changed.profileCompleteness).toBe(40)
    expect((await patch(id, { contact: { coordinates: null } })).contact.coordinates).toBeNull()
    expect((await patch(id, { contact: {} })).contact.phone).toBe("+15550100")
  })

  it("has the days of its hours in lower case, whatever case they came in", async () => {
    const { id } = await newBusiness(owner)
    const hours = { MONDAY: "closed", Friday: { open: "11:30", close: "01:00" }, "2026-12-25": "closed" }
    const stored = { monday: "closed", friday: { open: "11:30", close: "01:00" }, "2026-12-25": "closed" }
    expect((await patch(id, { hours })).hours).toEqual(stored)
    expect(dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`)).hours).toEqual(stored)
    const twice = await owner.patch(`${businesses}/${id}`, { hours: { Sunday: "closed", SUNDAY: "closed" } })
    const issues = [{ path: "hours.SUNDAY", message: "names a day a second time" }]
    expect(twice).toMatchObject({ status: 422, body: { error: { details: { issues } } } })
  })

  it("has its template type for an industry until it is given another", async () => {
    const { id } = await newBusiness(owner)
    expect(await patch(id, { templateType: "restaurant" })).toMatchObject({ industry: "restaurant" })
    expect(await patch(id, { templateType: "salon", industry: "barber" })).toMatchObject({ industry: "barber" })
    expect(await patch(id, { templateType: "retail" })).toMatchObject({ templateType: "retail", industry: "barber" })
  })

  it("never shows its integrations, which are stored encrypted", async () => {
    const { id } = await newBusiness(owner)
    const changed = await patch(id, { integrations: { calendar: { token: "tok_canary_5521" } } })
    expect(changed.integrations).toEqual(["calendar"])
    const rows = await runSql(berth.databaseUrl, "SELECT * FROM businesses WHERE id = $1", [id])
    expect(JSON.stringify(rows)).not.toContain("tok_canary_5521")
    expect((await patch(id, { integrations: null })).integrations).toEqual([])
  })

  it.each([
    ["contact.website", { contact: { website: "http://x.example" } }],
    ["contact.website", { contact: { website: "javascript:x" } }],
    ["contact.website", { contact: { website: "https://a@b.com/" } }],
    ["contact.website", { contact: { website: "https://b.com/<script>" } }],
    ["contact.website", { contact: { website: `https://b.com/${"x".repeat(2048)}` } }],
    ["analytics.reportingEndpoint", { analytics: { enabled: true, reportingEndpoint: "javascript:x" } }],
    ["analytics.reportingEndpoint", { analytics: { enabled: true, reportingEndpoint: "http://localhost:1/" } }],
    ["analytics.reportingEndpoint", { analytics: { enabled: true, reportingEndpoint: "https://a@b.com/<script>" } }],
    ["analytics.reportingEndpoint", { analytics: { enabled: true, reportingEndpoint: "" } }],
    ["analytics.reportingEndpoint", {
      analytics: { enabled: true, reportingEndpoint: `https://b.com/${"x".repeat(2048)}` }
    }],
    ["analytics.target", { analytics: { enabled: true, target: "x" } }],
    ["contact.email", { contact: { email: "nobody" } }],
    ["contact.coordinates.lat", { contact: { coordinates: { lat: 91, lng: 0 } } }],
    ["contact.address.planet", { contact: { address: { planet: "Earth" } } }],
    ["hours.someday", { hours: { someday: "closed" } }],
    ["hours.2026-02-30", { hours: { "2026-02-30": "closed" } }],
    ["hours.monday.open", { hours: { monday: { open: "25:00", close: "20:00" } } }],
    ["hours.monday", { hours: { Monday: "closed", monday: { open: "09:00", close: "20:00" } } }],
    ["templateType", { templateType: "bakery" }],
    ["customFields.Parking", { customFields: { Parking: 5 } }],
    ["customFields", { customFields: { " ": "x" } }],
    ["customFields", { customFields: { "nul\u0000": "x" } }],
    ["customFields", { customFields: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, "x"])) }],
    ["featureFlags.faq", { featureFlags: { faq: "yes" } }],
    ["serverId", { serverId: "srv_01J00000000000000000000000" }],
    ["name", { name: "" }],
    ["", {}]
  ])("is not changed by a wrong %s", async (path, body) => {
    const { id, updatedAt } = await newBusiness(owner)
    const answer = await owner.patch(`${businesses}/${id}`, body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ error: { code: "validation_error", details: { issues: [{ path }] } } })
    expect(dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`)).updatedAt).toBe(updatedAt)
  })

  it.each(["http://x.example/a.png", "https://a@b.com/a.png", "https://b.com/<script>"])(
    "shows no image from %s in its listing",
    async (featuredImageUrl) => {
      const { id } = await newBusiness(owner)
      const answer = await owner.patch(`${businesses}/${id}/listing`, { featuredImageUrl })
      expect([answer.status, answer.body]).toMatchObject([422, {
        error: { details: { issues: [{ path: "featuredImageUrl" }] } }
      }])
    }
  )

  it("links a server of its project, one business a server", async () => {
    const project = await owner.project()
    const server = await owner.server(project.id)
    const [first, second] = [
      await newBusiness(owner, { projectId: project.id }),
      await newBusiness(owner, { projectId: project.id })
    ]
    expect((await patch(first.id, { serverId: server.id })).serverId).toBe(server.id)
    expect((await owner.patch(`${businesses}/${second.id}`, { serverId: server.id })).status).toBe(409)
    const stranger = await newBusiness(owner)
    expect((await owner.patch(`${businesses}/${stranger.id}`, { serverId: server.id })).status).toBe(422)
    await owner.delete(`/v1/servers/${server.id}`)
    expect(dataOf(await owner.get<{ data: Business }>(`${businesses}/${first.id}`)).serverId).toBeNull()
  })

  it("has custom fields, replaced as a whole", async () => {
    const { id } = await newBusiness(owner)
    expect((await patch(id, { customFields: { Parking: "Free", Wifi: "Yes" } })).customFields)
      .toEqual({ Parking: "Free", Wifi: "Yes" })
    expect((await patch(id, { customFields: { Parking: "Paid" } })).customFields).toEqual({ Parking: "Paid" })
    expect((await patch(id, { name: "Renamed" })).customFields).toEqual({ Parking: "Paid" })
    expect((await patch(id, { customFields: {} })).customFields).toEqual({})
  })

  it("is changed by two callers at once without losing either's change", async () => {
    const { id } = await newBusiness(owner)
    await Promise.all([
      ...Array.from({ length: 5 }, () => patch(id, { contact: { phone: "+15550111" } })),
      ...Array.from({ length: 5 }, () => patch(id, { featureFlags: { faq: true } })),
      ...Array.from({ length: 5 }, () => patch(id, { featureFlags: { menuBrowsing: true } }))
    ])
    const read = dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))
    expect(read.contact.phone).toBe("+15550111")
    expect(read.featureFlags).toMatchObject({ faq: true, menuBrowsing: true })
  })

  it("goes with its listing, and with its project", async () => {
    const { id, listingId } = await newBusiness(owner)
    expect((await owner.delete(`${businesses}/${id}`)).status).toBe(204)
    expect((await owner.get(`${businesses}/${id}`)).status).toBe(404)
    expect((await owner.patch(`/v1/directory/${listingId}`, { visible: true })).status).toBe(404)
    const { id: other, projectId } = await newBusiness(owner)
    await owner.delete(`/v1/projects/${projectId}`)
    expect((await owner.get(`${businesses}/${other}`)).status).toBe(404)
  })

  it("is nothing for an API key, which is 401", async () => {
    const business = await newBusiness(owner)
    const key = await owner.holder(business.projectId)
    for (const path of [businesses, `${businesses}/${business.id}`]) {
      expect(await key.get(path)).toMatchObject({ status: 401, body: { error: { code: "unauthorized" } } })
    }
  })
})

describe("a listing", () => {
  it("follows its business until it is given a name of its own, and again when that is null", async () => {
    const { id } = await newBusiness(owner, { name: "First" })
    expect(await patchListing(id, { name: "Own name", tags: ["wood fire"] })).toMatchObject({ name: "Own name" })
    await patch(id, { name: "Second", description: "New" })
    expect(await patchListing(id, { tags: [] })).toMatchObject({ name: "Own name", description: "New" })
    expect(await patchListing(id, { name: null })).toMatchObject({ name: "Second" })
  })

  it("has the tier of its owner's plan, and a score of the written formula", async () => {
    const { id } = await newBusiness(owner)
    await patch(id, { description: "x", contact: { phone: "1" } })
    // 0 verification + 200 premium + 2 × 20 completeness + 0 health
    expect(await patchListing(id, { tags: [] })).toMatchObject({ tier: "premium", relevanceScore: 240 })
  })
})
