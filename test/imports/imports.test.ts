import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { confirm, revert, upload } from "../support/imports.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const menu =
  "name,description,price,category\r\nSoup,Warm,$7.50,Starters\r\nPizza,\"Big, round\",13.9,Mains\r\nTea,,,Mains\r\n"

const json = {
  version: "1.0",
  business: {
    name: "Copper Ladle & Sons",
    description: "A kitchen",
    vertical: "Restaurant",
    website: "https://ladle.example.com",
    phone: "+15550100",
    location: { city: "Millbrook", state: "IL", zip: "60601" },
    custom_fields: { parking: "yes", seats: 40 }
  },
  catalog_items: [
    { name: "Soup", price: 8.99, price_type: "fixed", item_type: "menu_item", category: "Starters" },
    { name: "Catering", price_type: "free_estimate", item_type: "service" }
  ]
}

const items = (businessId: string) =>
  runSql(
    berth.databaseUrl,
    `SELECT i.name, i.price_cents, i.price_type, i.item_type, i.sort_order, i.currency, i.is_available, c.name AS category
     FROM catalog_items i LEFT JOIN catalog_categories c ON c.id = i.category_id
     WHERE i.business_id = $1 ORDER BY i.sort_order`,
    [businessId]
  )

const categories = (businessId: string) =>
  runSql(
    berth.databaseUrl,
    "SELECT name, sort_order FROM catalog_categories WHERE business_id = $1 ORDER BY sort_order",
    [businessId]
  )

describe("an import", () => {
  it.each([
    ["items.json", JSON.stringify([{ name: "Soup", price: 5 }, { name: "Draft", price: 6, published: false }]), [
      ["Soup", 500, "fixed", true],
      ["Draft", 600, "fixed", false]
    ]],
    [
      "wix.csv",
      "handleId,fieldType,name,price,surcharge,productOptionDescription1\na,Product,Shirt,20,,S;L\n" +
      "a,Variant,,,0.0,S\na,Variant,,,5.00,L\n",
      [
        ["Shirt", 2000, "starting_at", true],
        ["Shirt, S", 2000, "fixed", true],
        ["Shirt, L", 2500, "fixed", true]
      ]
    ],
    ["menu.csv", "name,price,Variants\nLatte,8.00 / 12.00,\nMocha,0,Small $8; Large $12\nTea,3.00,\n", [
      ["Latte", null, "fixed", true],
      ["Mocha", null, "fixed", true],
      ["Tea", 300, "fixed", true]
    ]]
  ])("of %s never makes a hidden item available nor several prices one", async (filename, content, expected) => {
    const { id } = await newBusiness(owner)
    const { preview_id } = dataOf(await upload(owner, id, filename, content))
    expect((await confirm(owner, id, preview_id)).status).toBe(200)
    expect(
      (await items(id)).map((item) => [item["name"], item["price_cents"], item["price_type"], item["is_available"]])
    )
      .toEqual(expected)
  })

  it("of a CSV file is shown, then confirmed once, then reverted", async () => {
    const { id } = await newBusiness(owner)
    const preview = dataOf(await upload(owner, id, "menu.csv", menu))
    expect(preview).toMatchObject({
      source_format: "csv",
      record_count: 3,
      warnings: [],
      encoding: "utf-8",
      delimiter: ",",
      unmapped_columns: [],
      summary: {
        rows_total: 3,
        importable: 3,
        skipped: 0,
        categories_to_create: ["Starters", "Mains"],
        existing_names: []
      }
    })
    expect(await items(id)).toEqual([])
    expect(dataOf(await confirm(owner, id, preview.preview_id))).toEqual({ created_items: 3, warnings_count: 0 })
    expect(await items(id)).toMatchObject([
      { name: "Soup", price_cents: 750, category: "Starters", sort_order: 0, currency: "USD", is_available: true },
      { name: "Pizza", price_cents: 1390, category: "Mains", sort_order: 1 },
      { name: "Tea", price_cents: null, category: "Mains", sort_order: 2 }
    ])
    expect(await confirm(owner, id, preview.preview_id)).toMatchObject({
      status: 404,
      body: { error: { code: "not_found" } }
    })
    expect(dataOf(await revert(owner, id, preview.preview_id))).toEqual({
      removed_items: 3,
      removed_categories: 2,
      restored_profile: false
    })
    expect([await items(id), await categories(id)]).toEqual([[], []])
  })

  it("of a JSON file sets the profile, and a revert restores it", async () => {
    const { id } = await newBusiness(owner, { name: "Before" })
    const before = dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))
    const preview = dataOf(await upload(owner, id, "menu.json", JSON.stringify(json)))
    expect(preview).toMatchObject({ source_format: "ezforge_json", record_count: 2, warnings: [] })
    expect(dataOf(await confirm(owner, id, preview.preview_id))).toEqual({ created_items: 2, warnings_count: 0 })
    expect(dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))).toMatchObject({
      name: "Copper Ladle & Sons",
      description: "A kitchen",
      industry: "Restaurant",
      templateType: "restaurant",
      contact: {
        phone: "+15550100",
        website: "https://ladle.example.com",
        address: { city: "Millbrook", state: "IL", zip: "60601" }
      },
      customFields: { parking: "yes", seats: "40" }
    })
    expect(dataOf(await revert(owner, id, preview.preview_id))).toMatchObject({ restored_profile: true })
    const { updatedAt: _, ...restored } = dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))
    expect(before).toMatchObject({ ...restored, profileCompleteness: expect.any(Number) })
    expect((await revert(owner, id, preview.preview_id)).status).toBe(409)
  })
})
