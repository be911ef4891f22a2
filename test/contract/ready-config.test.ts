import { Effect } from "effect"
import { beforeAll, describe, expect } from "vitest"
import { appImage } from "../deployments/support/app-image.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { describeWhen } from "../support/needs.ts"
import { row } from "./row.ts"
import { failure, text } from "./shapes.ts"

type Fields = Readonly<Record<string, unknown>>

const berth = useBerth({ machines: true })
let owner: Account
let server: Server
let id = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  const project = await owner.project()
  server = await owner.server(project.id)
  id = (await newBusiness(owner, { projectId: project.id, templateType: "home_services" })).id
  await owner.patch(`${businesses}/${id}`, { serverId: server.id })
})

const path = (businessId = id) => `${businesses}/${businessId}/config`
const config = async () => dataOf(await owner.get<{ data: Fields }>(path()))
const change = (fields: Fields) => owner.patch(`${businesses}/${id}`, fields)

/** In the lower-case vocabulary of these endpoints. */
const refused = (status: number, code: string) => ({ status, body: failure(code) })

describe("ReadyConfig", () => {
  row("GET /api/v1/ready/businesses/:id/config → 200 { data: ReadyConfig }", async () => {
    const answer = await owner.get<{ data: Fields }>(path())
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ["data"]])
    expect(Object.keys(answer.body.data).sort())
      .toEqual(["business", "contact", "featureFlags", "hours", "serverId", "templateType", "version"])
  })

  row("ReadyConfig: version 2.0, serverId, templateType", async () => {
    expect(await config()).toMatchObject({ version: "2.0", serverId: server.id, templateType: "home_services" })
    for (const templateType of ["restaurant", "salon", "retail", "professional_services", "custom", "home_services"]) {
      await change({ templateType })
      expect(await config()).toMatchObject({ templateType })
    }
  })

  row("ReadyConfig: business has name, description, category", async () => {
    await change({ name: "Copper Ladle", description: "Wood fire", category: "New American" })
    expect((await config())["business"])
      .toStrictEqual({ name: "Copper Ladle", description: "Wood fire", category: "New American" })
  })

  row(
    "ReadyConfig: contact has phone, email, website, address (line1, city, state, zip, country), coordinates (lat, lng)",
    async () => {
      const address = { line1: "418 Harbor Street", city: "Millbrook", state: "IL", zip: "60601", country: "US" }
      const contact = { phone: "+15550142", email: "a@x.example", website: "https://x.example", address }
      await change({ contact: { ...contact, coordinates: { lat: 41.8853, lng: -87.6216 } } })
      expect((await config())["contact"])
        .toStrictEqual({ ...contact, coordinates: { lat: 41.8853, lng: -87.6216 } })
      await change({ contact: { coordinates: null } })
      expect((await config())["contact"]).toStrictEqual({ ...contact, coordinates: null })
    }
  )

  row("ReadyConfig: hours by weekday or date, closed or { open, close } with HH:MM", async () => {
    const hours = {
      sunday: "closed",
      monday: { open: "09:00", close: "17:30" },
      friday: { open: "18:00", close: "02:00" },
      saturday: { open: "09:00", close: "09:00" },
      "2026-12-25": "closed",
      "2026-12-31": { open: "00:00", close: "24:00" }
    }
    await change({ hours })
    expect((await config())["hours"]).toStrictEqual(hours)
    for (const wrong of [{ mon: "closed" }, { monday: "open" }, { monday: { open: "9:00", close: "17:00" } }]) {
      expect((await change({ hours: wrong })).status).toBe(422)
    }
  })

  row(
    "ReadyConfig: catalog is absent before the first sync; categories[] and items[] with the contract's fields",
    async () => {
      expect(await config()).not.toHaveProperty("catalog")
      const category = await newCategory(owner, id, { name: "Soups" })
      await newItem(owner, id, { priceCents: 899, categoryId: category.id })
      expect((await config())["catalog"]).toStrictEqual({
        categories: [{ id: category.id, name: "Soups", sortOrder: 0 }],
        items: [{
          id: text,
          name: "Corn Ribs",
          description: "",
          categoryId: category.id,
          priceCents: 899,
          priceType: "fixed",
          isAvailable: true,
          metadata: {}
        }]
      })
    }
  )

  row("ReadyConfig: featureFlags are five booleans", async () => {
    await change({ featureFlags: { quoteRequests: true } })
    expect((await config())["featureFlags"]).toStrictEqual({
      appointmentBooking: false,
      onlineOrdering: false,
      quoteRequests: true,
      faq: false,
      menuBrowsing: false
    })
  })

  row("ReadyConfig: integrations is there for the owner when it is set, absent otherwise", async () => {
    expect(await config()).not.toHaveProperty("integrations")
    const integrations = { calendar: { token: "tok_canary_88" } }
    await change({ integrations })
    expect((await config())["integrations"]).toStrictEqual(integrations)
    expect((await owner.get(`${businesses}/${id}`)).text).not.toContain("tok_canary_88")
    expect(berth.logged.join("\n")).not.toContain("tok_canary_88")
    await change({ integrations: null })
    expect(await config()).not.toHaveProperty("integrations")
  })

  row("ReadyConfig: analytics is enabled with an optional reportingEndpoint, or absent", async () => {
    expect(await config()).not.toHaveProperty("analytics")
    for (const analytics of [{ enabled: false }, { enabled: true, reportingEndpoint: "https://stats.example" }]) {
      await change({ analytics })
      expect((await config())["analytics"]).toStrictEqual(analytics)
    }
  })
})

describe("GET …/config", () => {
  row(
    "business config is for a session, or an API key with servers:read; Cache-Control private, max-age=10",
    async () => {
      const key = await owner.holder(server.projectId, ["servers:read"])
      for (const holder of [owner, key]) {
        const answer = await holder.get<{ data: Fields }>(path())
        expect([answer.status, answer.body.data]).toEqual([200, await config()])
        expect(answer.headers.get("cache-control")).toBe("private, max-age=10")
      }
    }
  )

  row("business config: 400 bad_request, id missing or longer than 26 characters", async () => {
    for (const wrong of ["", "%20", "x".repeat(27)]) {
      expect(await owner.get(path(wrong))).toMatchObject(refused(400, "bad_request"))
    }
  })

  row("business config: 401 unauthorized, 403 forbidden without servers:read", async () => {
    expect(await berth.request("GET", path())).toMatchObject(refused(401, "unauthorized"))
    const key = await owner.holder(server.projectId, ["servers:write"])
    expect(await key.get(path())).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } })
  })

  row("business config: 404 not_found, business missing or not owned", async () => {
    expect(await owner.get(path("01J00000000000000000000000"))).toMatchObject(refused(404, "not_found"))
    expect(await (await berth.signUp()).get(path())).toMatchObject(refused(404, "not_found"))
  })

  row("business config: 404 config_not_generated", async () => {
    const { id: unlinked } = await newBusiness(owner)
    expect(await owner.get(path(unlinked))).toMatchObject(refused(404, "config_not_generated"))
  })
})

const notLinux = process.platform === "linux" ? undefined : "machines run on Linux only"

describeWhen(notLinux, "a server of a business", () => {
  row("the same configuration is injected at deploy as SVC_READY_CONFIG", async () => {
    await owner.put(`/v1/servers/${server.id}/env/SVC_READY_CONFIG`, { value: "{}" })
    await change({ integrations: { crm: { apiKey: "k" } } })
    const imageUri = await Effect.runPromise(appImage("healthy"))
    const deployed = await owner.post(`/v1/servers/${server.id}/deploy`, { imageUri })
    expect(deployed.body).toMatchObject({ data: { status: "running" } })
    const { accessToken: token } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    )
    const env = await berth.request<Readonly<Record<string, string>>>("GET", `/s/${server.slug}/env`, { token })
    expect(JSON.parse(env.body["SVC_READY_CONFIG"] ?? "")).toEqual(await config())
    await owner.delete(`/v1/projects/${server.projectId}`)
  })
})
