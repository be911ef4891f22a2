import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { confirm, importOf, multipart, type Part, type Preview } from "../support/imports.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let business: string

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  business = (await newBusiness(owner)).id
})

interface Refusal {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details: Readonly<Record<string, unknown>>
  }
}

const square = "Token,Item Name,Variation Name,Price,Category\nA1,Soup,Regular,6.50,Starters\n"
const woo = "Name,Regular price,Categories,Stock\nSoup,6.50,Starters,4\n"

const send = <Body>(filename: string, content: string, mappings?: unknown) => {
  const part: Part = { name: "mappings", type: "application/json", content: JSON.stringify(mappings) }
  const parts = mappings === undefined ? [] : [part]
  return owner.request<Body>("POST", importOf(business), multipart([...parts, { filename, content }]))
}
const preview = async (filename: string, content: string, mappings?: unknown) =>
  dataOf(await send<{ data: Preview }>(filename, content, mappings))
const refusal = async (filename: string, content: string, mappings?: unknown) => {
  const answer = await send<Refusal>(filename, content, mappings)
  expect([answer.status, answer.body.error.code]).toEqual([422, "validation_error"])
  return answer.body.error
}
const imported = async (filename: string, content: string, mappings: unknown) => {
  const { id } = await newBusiness(owner)
  const part: Part = { name: "mappings", content: JSON.stringify(mappings) }
  const answer = await owner.request<{ data: Preview }>(
    "POST",
    importOf(id),
    multipart([{ filename, content }, part])
  )
  await confirm(owner, id, dataOf(answer).preview_id)
  return runSql(
    berth.databaseUrl,
    `SELECT i.name, i.price_cents, c.name AS category FROM catalog_items i
      LEFT JOIN catalog_categories c ON c.id = i.category_id WHERE i.business_id = $1 ORDER BY i.sort_order`,
    [id]
  )
}
const json = (root: object) => JSON.stringify({ version: "1.0", business: { name: "A", description: "b" }, ...root })

describe("the columns of an import", () => {
  it("that are not imported and seem to be needed are suggested, each with a warning", async () => {
    const shown = await preview("menu.csv", woo)
    expect(shown).toMatchObject({
      source_program: "WooCommerce",
      unmapped_columns: ["Regular price", "Categories", "Stock"],
      suggested_mappings: { "Regular price": "price", Categories: "category" }
    })
    expect(shown.warnings.map(({ context, type }) => [type, context])).toEqual([
      ["field_skipped", "column Regular price"],
      ["field_skipped", "column Categories"]
    ])
    expect(shown.warnings[0]?.message).toContain("mappings {\"Regular price\":\"price\"}")
  })

  it("without a name are all told, with the suggestion, and what is suggested can be passed back", async () => {
    const { details, message } = await refusal("items.csv", square)
    expect(details).toMatchObject({
      issues: [{ path: "file" }],
      columns: ["Token", "Item Name", "Variation Name", "Price", "Category"],
      suggested_mappings: { "Item Name": "name" },
      source_program: "Square"
    })
    expect(message).toContain("mappings {\"Item Name\":\"name\"}")
    expect(await imported("items.csv", square, details["suggested_mappings"])).toEqual([
      { name: "Soup", price_cents: 650, category: "Starters" }
    ])
  })

  it("that tell the forms of an item apart are joined to its name, in CSV and JSON", async () => {
    const content =
      "Token,Item Name,Variation Name,Price\nA1,Latte,Small,3.50\nA2,Latte,Large,4.50\nA3,Soup,Regular,6\n"
    const { details } = await refusal("items.csv", content)
    const suggested = { "Item Name": "name", "Variation Name": "variation" }
    expect(details).toMatchObject({ suggested_mappings: suggested })
    expect((await imported("items.csv", content, suggested)).map(({ name }) => name)).toEqual([
      "Latte, Small",
      "Latte, Large",
      "Soup"
    ])
    const items = json({ catalog_items: [{ name: "Mocha", price: 4, size: "Large" }] })
    expect(await imported("items.json", items, { size: "variation" })).toMatchObject([{ name: "Mocha, Large" }])
  })

  it("are taken as they are mapped, before their own names, and without regard to capitals", async () => {
    const content = "Name,Label,PRICE (usd),price,Section\nA,Soup,6.50,99,Starters\n"
    const mappings = { Label: "name", "price (USD)": "price", Section: "category", Name: "ignore" }
    expect(await imported("menu.csv", content, mappings)).toEqual([
      { name: "Soup", price_cents: 650, category: "Starters" }
    ])
  })

  it("may have whole cents", async () => {
    expect(await imported("menu.csv", "name,cents\nSoup,650\nTea,1.5\n", { cents: "price_cents" })).toMatchObject([
      { price_cents: 650 },
      { price_cents: null }
    ])
    const content = json({ catalog_items: [{ name: "Soup", priceCents: 899 }] })
    expect(await imported("menu.json", content, { priceCents: "price_cents" })).toMatchObject([{ price_cents: 899 }])
  })

  it("that are mapped but not there, or to no field, are told by name", async () => {
    const wrong: ReadonlyArray<[mappings: unknown, path: string]> = [
      [{ Cost: "price" }, "mappings.Cost"],
      [{ Stock: "cost" }, "mappings.Stock"],
      [{ Stock: "catalog_items" }, "mappings.Stock"],
      [{ Stock: "price", "Regular price": "price" }, "mappings.Regular price"],
      [{ Stock: "price_cents", "Regular price": "price" }, "mappings.Regular price"],
      [["Stock"], "mappings"],
      ["Stock", "mappings"]
    ]
    for (const [mappings, path] of wrong) {
      expect((await refusal("menu.csv", woo, mappings)).details, JSON.stringify(mappings)).toMatchObject({
        issues: [{ path }]
      })
    }
    const unknown = await refusal("menu.csv", woo, { Cost: "price" })
    expect(unknown.details).toMatchObject({ columns: ["Name", "Regular price", "Categories", "Stock"] })
  })

  it("are told twice as a mistake, as is a mapping that is no JSON or too long", async () => {
    const part = (content: string): Part => ({ name: "mappings", content })
    const file = { filename: "menu.csv", content: woo }
    for (const parts of [[part("{}"), part("{}")], [part("{")], [part(`{"a":"${"x".repeat(70_000)}"}`)]]) {
      const answer = await owner.request<Refusal>("POST", importOf(business), multipart([file, ...parts]))
      expect(answer).toMatchObject({ status: 422, body: { error: { details: { issues: [{ path: "mappings" }] } } } })
    }
  })
})

describe("the keys of a JSON import", () => {
  it("that are not known are named in warnings, and suggested where they seem to be needed", async () => {
    const shown = await preview("menu.json", json({ catalog_items: [{ title: "x", name: "Soup", priceCents: 899 }] }))
    expect(shown.suggested_mappings).toEqual({ priceCents: "price_cents" })
    expect(shown.warnings.map(({ context }) => context)).toEqual([
      "catalog_items[].title",
      "catalog_items[].priceCents"
    ])
    const lost = await preview("menu.json", json({ items: [{ name: "Soup" }] }))
    expect([lost.suggested_mappings, lost.warnings.map(({ context }) => context)]).toEqual([
      { items: "catalog_items" },
      ["items"]
    ])
  })

  it("are taken as they are mapped", async () => {
    const content = json({ items: [{ title: "Soup", cost: 6.5, note: "x" }], catalog_items: [] })
    const mappings = { items: "catalog_items", title: "name", "catalog_items[].cost": "price", note: "ignore" }
    expect(await imported("menu.json", content, mappings)).toMatchObject([{ name: "Soup", price_cents: 650 }])
    expect((await refusal("menu.json", content, { cent: "price" })).details).toMatchObject({
      issues: [{ path: "mappings.cent" }]
    })
  })
})

it("the tool takes mappings as an argument, and answers alike", async () => {
  const client = await connectMcp(berth.url, { token: owner.token })
  const file = { businessId: business, filename: "items.csv", content: square }
  const refused = await callTool(client, "import", file)
  expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
    true,
    expect.stringContaining("suggested_mappings")
  ])
  const shown = await callTool(client, "import", { ...file, mappings: { "Item Name": "name" } })
  expect(shown.structuredContent).toMatchObject({ record_count: 1, source_program: "Square", suggested_mappings: {} })
  await client.close()
})

it("an Idempotency-Key holds a file with its mappings", async () => {
  const post = (mappings: unknown) => {
    const { body, headers } = multipart([{ filename: "m.csv", content: woo }, {
      name: "mappings",
      content: JSON.stringify(mappings)
    }])
    return owner.request("POST", importOf(business), { body, headers: { ...headers, "idempotency-key": "one" } })
  }
  const first = await post({ "Regular price": "price" })
  expect((await post({ "Regular price": "price" })).body).toEqual(first.body)
  expect((await post({ Stock: "price" })).status).toBe(422)
})
