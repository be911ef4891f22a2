import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { revert } from "../support/imports.ts"
import { describeWhen, itLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

interface Body {
  readonly data: {
    readonly businessId: string
    readonly importId: string
    readonly importedItems: number
    readonly serverId: string
    readonly deployment: { readonly id: string; readonly status: string }
    readonly listing: { readonly id: string; readonly status: string }
  }
  readonly error: { readonly code: string; readonly details: Readonly<Record<string, unknown>> }
}

const file = (...rows: ReadonlyArray<string>) => ({
  filename: "menu.csv",
  content: `name,price,category\n${rows.join("\n")}\n`
})
const first = { ...file("Soup,6.50,Starters", "Toast,4,Starters"), name: "Copper Ladle" }
const publish = (owner: Account, body: object) => owner.request<Body>("POST", `${businesses}/publish`, { body })

describeWhen(missingForApps, "publishing an existing business", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(mcpImage("streamable"))
  })
  const berth = useBerth({ machines: true, variables })
  let owner: Account
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
  })

  const catalog = (businessId: string) =>
    runSql(
      berth.databaseUrl,
      `SELECT i.*, c.name AS category FROM catalog_items i LEFT JOIN catalog_categories c ON c.id = i.category_id
        WHERE i.business_id = $1 ORDER BY i.sort_order`,
      [businessId]
    )
  const names = async (businessId: string) => (await catalog(businessId)).map(({ name }) => name)
  const again = (businessId: string, body: object) => publish(owner, { ...body, businessId })
  const deployments = async (serverId: string) =>
    (await owner.get<Listed<unknown>>(`/v1/servers/${serverId}/deployments`)).body.meta.total

  it("replaces its catalog, deploys nothing that runs, and a revert brings back what was there to the letter", async () => {
    const { businessId, deployment, listing, serverId } = (await publish(owner, first)).body.data
    await runSql(
      berth.databaseUrl,
      "UPDATE catalog_items SET is_available = false, metadata = '{\"a\":[1]}' WHERE name = 'Soup' AND business_id = $1",
      [businessId]
    )
    const before = await catalog(businessId)
    await owner.request("PATCH", `/v1/directory/${listing.id}`, { body: { visible: false } })
    const second = await again(businessId, file("Lobster,30,Mains", "Soup,7,Starters"))
    expect([second.status, second.body.data]).toMatchObject([201, {
      businessId,
      serverId,
      importedItems: 2,
      deployment: { id: deployment.id, status: "running" },
      listing: { status: "pending" }
    }])
    expect(await deployments(serverId)).toBe(1)
    expect(await names(businessId)).toEqual(["Lobster", "Soup"])
    const undone = await revert(owner, businessId, second.body.data.importId)
    expect([undone.status, undone.body]).toMatchObject([200, { data: { removed_items: 2, removed_categories: 2 } }])
    expect(await catalog(businessId)).toEqual(before)
    expect((await revert(owner, businessId, second.body.data.importId)).status).toBe(409)
  })

  it("adds to it when the mode says so, and shows its listing when it is told to", async () => {
    const { businessId, listing } = (await publish(owner, { ...first, visible: false })).body.data
    expect(listing.status).toBe("pending")
    const added = await again(businessId, { ...file("Tea,3,Drinks"), mode: "add", visible: true })
    expect(added.body.data.listing.status).toBe("active")
    expect(await names(businessId)).toEqual(["Soup", "Toast", "Tea"])
    expect((await revert(owner, businessId, added.body.data.importId)).status).toBe(200)
    expect(await names(businessId)).toEqual(["Soup", "Toast"])
  })

  it("a replacement is not undone once something was added, or another replacement came after it", async () => {
    const { businessId } = (await publish(owner, first)).body.data
    const second = (await again(businessId, file("A,1,X"))).body.data
    await owner.post(`${businesses}/${businessId}/catalog/items`, { name: "By hand", itemType: "product" })
    expect((await revert(owner, businessId, second.importId)).status).toBe(409)
    const third = (await again(businessId, file("B,1,X"))).body.data
    expect((await revert(owner, businessId, second.importId)).status).toBe(409)
    expect((await revert(owner, businessId, third.importId)).status).toBe(200)
    expect(await names(businessId)).toEqual(["A", "By hand"])
    await runSql(berth.databaseUrl, "DELETE FROM catalog_items WHERE name = 'By hand'", [])
    expect((await revert(owner, businessId, second.importId)).status).toBe(409)
    expect(await names(businessId)).toEqual(["A"])
  })

  it("a replacement is not undone once one of its items was changed", async () => {
    const { businessId } = (await publish(owner, first)).body.data
    const { importId } = (await again(businessId, file("A,1,X"))).body.data
    const [item] = await catalog(businessId) as [{ id: string }]
    const changed = await owner.request("PATCH", `${businesses}/${businessId}/catalog/items/${item.id}`, {
      body: { name: "B" }
    })
    expect(changed.status).toBe(200)
    expect((await revert(owner, businessId, importId)).status).toBe(409)
  })

  it("stays, with its server and listing, when its first import is undone, until they are deleted", async () => {
    const { businessId, importId, listing, serverId } = (await publish(owner, first)).body.data
    expect((await revert(owner, businessId, importId)).body).toMatchObject({
      data: { removed_items: 2, removed_categories: 1, restored_profile: false }
    })
    const places = [`${businesses}/${businessId}`, `/v1/directory/${listing.id}`, `/v1/servers/${serverId}`]
    const statuses = async () => {
      const answers = []
      for (const place of places) answers.push((await owner.get(place)).status)
      return answers
    }
    expect(await names(businessId)).toEqual([])
    expect(await statuses()).toEqual([200, 200, 200])
    expect((await owner.request("DELETE", `${businesses}/${businessId}`)).status).toBe(204)
    expect(await statuses()).toEqual([404, 404, 200])
    expect((await owner.request("DELETE", `/v1/servers/${serverId}`)).status).toBe(204)
    expect(await statuses()).toEqual([404, 404, 404])
  })

  it("that has no server yet gets one, and its listing is shown", async () => {
    const { id } = await newBusiness(owner)
    const { body, status } = await again(id, { ...file("A,1,X"), profile: { contact: { phone: "+15550100" } } })
    expect([status, body.data]).toMatchObject([201, {
      business: { contact: { phone: "+15550100" } },
      deployment: { status: "running" },
      listing: { status: "active" }
    }])
    expect(await deployments(body.data.serverId)).toBe(1)
  })

  it("a file that can't be used leaves its catalog as it is, as does a dry run", async () => {
    const { businessId } = (await publish(owner, first)).body.data
    const before = await catalog(businessId)
    const dry = await again(businessId, { ...file("A,1,X"), dryRun: true })
    expect([dry.status, dry.body.data]).toMatchObject([200, { dryRun: true, record_count: 1 }])
    const profile = { version: "1.0", business: { name: "Copper Ladle", description: "b" } }
    const refused: ReadonlyArray<[body: object, status: number, path?: string]> = [
      [{ filename: "menu.csv", content: "Dish\nSoup\n" }, 422, "file"],
      [{ filename: "menu.csv", content: "Dish\nSoup\n", dryRun: true }, 422, "file"],
      [{ filename: "menu.csv", content: "name,Regular price\nSoup,6\n" }, 422, "mappings"],
      [{ ...file("A,1,X"), name: "Other" }, 422, "name"],
      [{ ...file("A,1,X"), projectId: "x" }, 422, "projectId"],
      [{ ...file("A,1,X"), mode: "merge" }, 422, "mode"]
    ]
    for (const [body, status, path] of refused) {
      expect(await again(businessId, body)).toMatchObject({
        status,
        body: { error: { code: "validation_error", details: { issues: [{ path }] } } }
      })
    }
    expect((await again(businessId, { filename: "p.json", content: JSON.stringify(profile) })).status).toBe(201)
    expect(await catalog(businessId)).toEqual(before)
    expect(await publish(owner, { ...first, mode: "add" })).toMatchObject({ status: 422 })
    const stranger = await berth.signUp("pro")
    expect((await publish(stranger, { ...file("A,1,X"), businessId })).status).toBe(404)
  })

  itLong("by two callers at once replaces it twice, and neither mixes with the other", async () => {
    const { businessId } = (await publish(owner, first)).body.data
    const answers = await Promise.all([again(businessId, file("A,1,X", "B,1,Y")), again(businessId, file("C,1,X"))])
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect([["A", "B"], ["C"]]).toContainEqual(await names(businessId))
  })

  itLong("whose server does not run is deployed once by two callers", async () => {
    const { id } = await newBusiness(owner)
    const answers = await Promise.all([again(id, file("A,1,X")), again(id, file("B,1,X"))])
    expect(answers.map(({ body, status }) => [status, body.data.deployment.status])).toEqual([
      [201, "running"],
      [201, "running"]
    ])
    expect(new Set(answers.map(({ body }) => body.data.deployment.id)).size).toBe(1)
  })
})
