import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses } from "../support/business.ts"
import { revert } from "../support/imports.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeWhen } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

interface Body {
  readonly data: {
    readonly businessId: string
    readonly importId: string
    readonly importedItems: number
    readonly unmapped_columns: ReadonlyArray<string>
  }
  readonly error: { readonly message: string; readonly details: Readonly<Record<string, unknown>> }
}

const file = { filename: "menu.csv", content: "Name,Price (USD),In stock\nSoup,6.50,4\n", name: "Copper Ladle" }
const json = (root: object) => ({
  filename: "menu.json",
  content: JSON.stringify({ version: "1.0", business: { name: "A", description: "b" }, ...root })
})
const publish = (owner: Account, body: object) => owner.request<Body>("POST", `${businesses}/publish`, { body })
const totals = (owner: Account) =>
  Promise.all(
    ["/v1/projects", "/v1/servers", businesses].map(async (path) =>
      (await owner.get<Listed<unknown>>(path)).body.meta.total
    )
  )

describeWhen(missingForApps, "publishing loses nothing silently", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(mcpImage("streamable"))
  })
  const berth = useBerth({ machines: true, variables })
  const prices = (businessId: string) =>
    runSql(berth.databaseUrl, "SELECT price_cents FROM catalog_items WHERE business_id = $1", [businessId])

  it.each([
    ["a price", file, "Price (USD)", "price"],
    ["a price in cents", json({ catalog_items: [{ name: "Soup", priceCents: 650 }] }), "priceCents", "price_cents"],
    ["all items", json({ items: [{ name: "Soup", price: 6.5 }] }), "items", "catalog_items"]
  ])("a file that would lose %s does not go live: 422 names the argument to pass", async (_, body, column, target) => {
    const owner = await berth.signUp()
    const answer = await publish(owner, body)
    const argument = `mappings ${JSON.stringify({ [column]: target })}`
    expect([answer.status, answer.body.error]).toEqual([422, {
      code: "validation_error",
      message: expect.stringContaining(argument) as string,
      details: expect.objectContaining({
        issues: [{ path: "mappings", message: expect.stringContaining("\"ignore\"") as string }],
        suggested_mappings: expect.objectContaining({ [column]: target }) as object
      }) as object
    }])
    expect(await totals(owner)).toEqual([0, 0, 0])
  })

  it.each([
    ["prices in JSON that are text", json({ catalog_items: [{ name: "A", price: "5.00" }] }), "{\"price\":\"ignore\"}"],
    [
      "prices that are lists in another column",
      { ...file, content: "name,price,Variants\nLatte,0,Small $8; Large $12\n" },
      "row 2 has what may be more prices in another column (\"Latte\": Variants"
    ],
    [
      "surcharges on no price",
      { ...file, content: "handleId,fieldType,name,price,surcharge\na,Product,Shirt,,\na,Variant,,,5.00\n" },
      "row 3 has a surcharge, or none, that can't be added to a price"
    ],
    ["every item of a JSON file", json({ catalog_items: [{ name: "" }, { x: 1 }] }), "catalog_items[0] has no name"],
    [
      "prices in euros",
      { ...file, content: "name,price,CURRENCY_CODE\nSoup,6.50,EUR\n" },
      "CURRENCY_CODE is \"EUR\""
    ],
    ["what customers pay, where it has costs", { ...file, content: "name,Cost\nSoup,2.10\n" }, "{\"Cost\":\"ignore\"}"],
    [
      "one of two prices",
      { ...file, content: "name,Price [A],Price [B]\nSoup,8.50,9\n" },
      "\"Price [A]\" and \"Price [B]\" may be the price"
    ],
    ["a column of euros", { ...file, content: "name,Price (EUR)\nSoup,6.50\n" }, "{\"Price (EUR)\":\"ignore\"}"]
  ])("a file that would lose %s does not go live: 422, and a dry run, say what to do", async (_, body, part) => {
    const owner = await berth.signUp()
    const answer = await publish(owner, body)
    expect([answer.status, answer.body.error]).toMatchObject([422, {
      code: "validation_error",
      message: expect.stringContaining(part) as string
    }])
    expect((await publish(owner, { ...body, dryRun: true })).body.data).toMatchObject({
      refusal: expect.stringContaining(part) as string
    })
    expect(await totals(owner)).toEqual([0, 0, 0])
  })

  it("with the mapping it goes live with its prices, and its import can be taken back by its id", async () => {
    const owner = await berth.signUp()
    const answer = await publish(owner, { ...file, mappings: { "Price (USD)": "price" } })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: { importedItems: 1, warnings: [], unmapped_columns: ["In stock"], suggested_mappings: {} }
      }
    })
    const { businessId, importId } = answer.body.data
    expect(await prices(businessId)).toEqual([{ price_cents: 650 }])
    expect(await revert(owner, businessId, importId)).toMatchObject({
      status: 200,
      body: { data: { removed_items: 1 } }
    })
    expect(await prices(businessId)).toEqual([])
  })

  it("an export with variations and hidden items goes live as its shop shows it, and says so", async () => {
    const owner = await berth.signUp()
    const content = "Handle,SKU,Name,Category,Option 1 value,Cost,Available for sale [My Shop],Price [My Shop]\n" +
      "napo,1,Napolitana,Pizza,small,2.10,Y,8.50\nnapo,2,,,large,3.10,Y,12.50\nold,3,Old pie,Pies,,1,N,5\n"
    const refused = await publish(owner, { ...file, content })
    expect(refused.body.error.details).toMatchObject({
      suggested_mappings: { "Price [My Shop]": "price" },
      price_candidates: []
    })
    const answer = await publish(owner, {
      ...file,
      content,
      mappings: refused.body.error.details["suggested_mappings"]
    })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: {
          importedItems: 3,
          price_candidates: [],
          warnings: [
            { message: expect.stringMatching(/^row 4 is a draft or hidden \(Available for sale/) as string },
            { message: expect.stringContaining("such as \"Napolitana, large\"") as string }
          ]
        }
      }
    })
    expect(
      await runSql(
        berth.databaseUrl,
        `SELECT i.name, price_cents, is_available, c.name AS category FROM catalog_items i
          JOIN catalog_categories c ON c.id = category_id WHERE i.business_id = $1 ORDER BY i.sort_order`,
        [answer.body.data.businessId]
      )
    ).toEqual([
      { name: "Napolitana, small", price_cents: 850, is_available: true, category: "Pizza" },
      { name: "Napolitana, large", price_cents: 1250, is_available: true, category: "Pizza" },
      { name: "Old pie", price_cents: 500, is_available: false, category: "Pies" }
    ])
  })

  it("of a file with a profile is taken back too", async () => {
    const owner = await berth.signUp()
    const business = {
      name: "Copper Ladle",
      description: "Soups",
      vertical: "restaurant",
      website: "https://a.example"
    }
    const content = JSON.stringify({ version: "1.0", business, catalog_items: [{ name: "Soup", price: 6.5 }] })
    const answer = await publish(owner, { filename: "menu.json", content })
    expect([answer.status, answer.text]).toEqual([201, answer.text])
    const { businessId, importId } = answer.body.data
    expect(await revert(owner, businessId, importId)).toMatchObject({
      status: 200,
      body: { data: { removed_items: 1 } }
    })
    expect(await prices(businessId)).toEqual([])
  })

  it("with the column ignored it goes live without prices", async () => {
    const owner = await berth.signUp()
    const answer = await publish(owner, { ...file, mappings: { "Price (USD)": "ignore" } })
    expect([answer.status, answer.text]).toEqual([201, answer.text])
    expect(await prices(answer.body.data.businessId)).toEqual([{ price_cents: null }])
  })

  it("a dry run answers the preview and why it would be refused, and writes nothing", async () => {
    const owner = await berth.signUp()
    const answer = await publish(owner, { ...file, dryRun: true })
    expect([answer.status, answer.body.data]).toMatchObject([200, {
      dryRun: true,
      refusal: expect.stringContaining("Price (USD)") as string,
      record_count: 1,
      unmapped_columns: ["Price (USD)", "In stock"],
      suggested_mappings: { "Price (USD)": "price" }
    }])
    expect(answer.body.data).not.toHaveProperty("preview_id")
    const mapped = { ...file, dryRun: true, mappings: { "Price (USD)": "price" } }
    const client = await connectMcp(berth.url, { token: owner.token })
    const run = await callTool(client, "publish_business", mapped)
    expect(run.structuredContent).toMatchObject({ dryRun: true, refusal: null, warnings: [] })
    expect(run.structuredContent).toEqual((await publish(owner, mapped)).body.data)
    await client.close()
    expect(await totals(owner)).toEqual([0, 0, 0])
    expect((await publish(owner, { ...mapped, content: "Dish\nSoup\n" })).status).toBe(422)
  })
})
