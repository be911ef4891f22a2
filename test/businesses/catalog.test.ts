import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { catalogOf, type Category, type Item, newCategory, newItem, readCatalog } from "../support/catalog.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const names = async (id: string) => (await readCatalog(owner, id)).items.map(({ name }) => name)
const patchItem = (id: string, itemId: string, body: unknown) =>
  owner.patch<{ data: Item }>(`${catalogOf(id)}/items/${itemId}`, body)
const patchCategory = (id: string, categoryId: string, body: unknown) =>
  owner.patch<{ data: Category }>(`${catalogOf(id)}/categories/${categoryId}`, body)
/** Rows straight into the database: a catalog near its limit would take minutes otherwise. */
const fill = (table: "items" | "categories", id: string, count: number) => {
  const rest = table === "items" ? ", item_type, price_type" : ""
  const values = table === "items" ? ", 'product', 'fixed'" : ""
  return runSql(
    berth.databaseUrl,
    `INSERT INTO catalog_${table} (id, business_id, name, sort_order${rest})
     SELECT '01' || right($1, 12) || lpad(i::text, 12, '0'), $1, 'Filler ' || i, i${values} FROM generate_series(1, $2::int) i`,
    [id, count]
  )
}

describe("a catalog", () => {
  it("is empty, not absent, for a new business, and counts as there from its first item or category on", async () => {
    for (const make of [newItem, newCategory]) {
      const { id, profileCompleteness } = await newBusiness(owner)
      expect(await readCatalog(owner, id)).toEqual({
        categories: [],
        items: [],
        meta: { cursor: null, hasMore: false, total: 0 }
      })
      expect(profileCompleteness).toBe(0)
      await make(owner, id)
      const read = dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))
      expect(read.profileCompleteness).toBe(10)
    }
  })

  it("has items with the defaults of the contract", async () => {
    const { id } = await newBusiness(owner)
    const item = await newItem(owner, id)
    expect(item).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/) as string,
      name: "Corn Ribs",
      description: "",
      categoryId: null,
      itemType: "product",
      priceCents: null,
      priceType: "fixed",
      currency: "USD",
      isAvailable: true,
      metadata: {},
      sortOrder: 0,
      createdAt: expect.stringMatching(/Z$/) as string,
      updatedAt: item.createdAt
    })
  })

  it("keeps what a change does not name, and replaces metadata as a whole", async () => {
    const { id } = await newBusiness(owner)
    const category = await newCategory(owner, id)
    const metadata = { vegan: true, nested: { grams: [1, 2.5, null], "naïve ключ": "ß" } }
    const item = await newItem(owner, id, { priceCents: 899, categoryId: category.id, metadata })
    expect(item.metadata).toEqual(metadata)
    const changed = dataOf(await patchItem(id, item.id, { priceCents: 950, isAvailable: false }))
    const { updatedAt } = changed
    expect(changed).toEqual({ ...item, priceCents: 950, isAvailable: false, updatedAt })
    expect(updatedAt > item.updatedAt).toBe(true)
    expect(dataOf(await patchItem(id, item.id, { metadata: { spicy: 1 }, categoryId: null, priceCents: null })))
      .toMatchObject({ metadata: { spicy: 1 }, categoryId: null, priceCents: null })
    expect(Object.keys((await readCatalog(owner, id)).items[0]?.metadata ?? {})).toEqual(["spicy"])
  })

  it("takes a new item at the end or at a place, where what is there moves on", async () => {
    const { id } = await newBusiness(owner)
    for (const name of ["A", "B", "C"]) await newItem(owner, id, { name })
    await newItem(owner, id, { name: "first", sortOrder: 0 })
    expect(await names(id)).toEqual(["first", "A", "B", "C"])
    expect((await newItem(owner, id, { name: "far", sortOrder: 100 })).sortOrder).toBe(100)
    expect((await newItem(owner, id, { name: "last" })).sortOrder).toBe(101)
    // A place that is free moves nothing.
    await newItem(owner, id, { name: "between", sortOrder: 50 })
    expect((await readCatalog(owner, id)).items.map(({ sortOrder }) => sortOrder)).toEqual([0, 1, 2, 3, 50, 100, 101])
  })

  it("moves an item to a place, and categories alike", async () => {
    const { id } = await newBusiness(owner)
    const [a, , c] = [
      await newItem(owner, id, { name: "A" }),
      await newItem(owner, id, { name: "B" }),
      await newItem(owner, id, { name: "C" })
    ]
    await patchItem(id, c.id, { sortOrder: 0 })
    expect(await names(id)).toEqual(["C", "A", "B"])
    await patchItem(id, a.id, { sortOrder: 1 })
    expect(await names(id)).toEqual(["C", "A", "B"])
    await patchItem(id, c.id, { sortOrder: 10 })
    expect(await names(id)).toEqual(["A", "B", "C"])
    const soups = await newCategory(owner, id, { name: "Soups" })
    const mains = await newCategory(owner, id, { name: "Mains" })
    await patchCategory(id, mains.id, { sortOrder: soups.sortOrder })
    expect((await readCatalog(owner, id)).categories.map(({ name }) => name)).toEqual(["Mains", "Soups"])
  })

  it("is read in pages by who asks for them, and by the tool: each leads to the next, and says how many there are", async () => {
    const { id } = await newBusiness(owner)
    await newCategory(owner, id)
    await fill("items", id, 120)
    const whole = await readCatalog(owner, id)
    expect([whole.items.length, whole.categories.length]).toEqual([120, 1])
    type Paged = typeof whole & { readonly meta: { readonly cursor: string | null; readonly total: number } }
    const client = await connectMcp(berth.url, { token: owner.token })
    const byTool = async (cursor: string | null) => {
      const given = { businessId: id, ...(cursor === null ? {} : { cursor }) }
      const { content: [text], structuredContent } = await callTool(client, "get_catalog", given)
      const page = structuredContent as unknown as Paged
      const next = page.meta.cursor === null ? "Filler 120" : `Next page: get_catalog {"businessId":"${id}","cursor":`
      expect(text).toMatchObject({ text: expect.stringContaining(next) })
      return page
    }
    const byHttp = async (cursor: string | null) =>
      dataOf(
        await owner.get<{ data: Paged }>(`${catalogOf(id)}?limit=50${cursor === null ? "" : `&cursor=${cursor}`}`)
      )
    for (const read of [byHttp, byTool]) {
      const pages = [await read(null)]
      while (pages.at(-1)!.meta.cursor !== null) pages.push(await read(pages.at(-1)!.meta.cursor))
      expect(pages.flatMap(({ items }) => items)).toEqual(whole.items)
      expect(pages.map(({ categories, items, meta }) => [items.length, categories.length, meta.total]))
        .toEqual([[50, 1, 120], [50, 0, 120], [20, 0, 120]])
      const { id: otherId } = await newBusiness(owner)
      for (const query of [`cursor=${pages[0]!.meta.cursor}`, "cursor=x", "limit=0", "limit=101"]) {
        expect((await owner.get(`${catalogOf(otherId)}?${query}`)).status, query).toBe(400)
      }
    }
    await client.close()
  })

  it("has each category's name once in a business, and as often as there are businesses", async () => {
    const [one, other] = [await newBusiness(owner), await newBusiness(owner)]
    const soups = await newCategory(owner, one.id)
    await newCategory(owner, other.id)
    const mains = await newCategory(owner, one.id, { name: "Mains" })
    const twice = await owner.post(`${catalogOf(one.id)}/categories`, { name: "Soups" })
    expect([twice.status, twice.body]).toMatchObject([409, { error: { code: "conflict" } }])
    expect((await patchCategory(one.id, mains.id, { name: "Soups" })).status).toBe(409)
    expect((await patchCategory(one.id, soups.id, { name: "Soups" })).status).toBe(200)
    // The one of ten callers at once that came first.
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => owner.post(`${catalogOf(one.id)}/categories`, { name: "At once" }))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
  })

  it("keeps the items of a category that is deleted, without one", async () => {
    const { id } = await newBusiness(owner)
    const category = await newCategory(owner, id)
    await newItem(owner, id, { categoryId: category.id })
    expect((await owner.delete(`${catalogOf(id)}/categories/${category.id}`)).status).toBe(204)
    expect(await readCatalog(owner, id)).toMatchObject({ categories: [], items: [{ categoryId: null }] })
    expect((await owner.delete(`${catalogOf(id)}/categories/${category.id}`)).status).toBe(404)
  })

  it("loses an item once", async () => {
    const { id } = await newBusiness(owner)
    const item = await newItem(owner, id)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => owner.delete(`${catalogOf(id)}/items/${item.id}`))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    expect(await readCatalog(owner, id)).toMatchObject({ categories: [], items: [] })
  })

  it.each(
    [
      ["items", 5000],
      ["categories", 500]
    ] as const
  )("has at most so many %s: %i, under concurrency too", async (what, limit) => {
    const { id } = await newBusiness(owner)
    await fill(what, id, limit - 2)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => owner.post(`${catalogOf(id)}/${what}`, { name: `New ${at}`, sortOrder: 0 }))
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(4)
    expect(refused[0]?.body).toMatchObject({ error: { code: "limit_exceeded", details: { limit } } })
  })

  it.each([
    ["name", { name: " " }],
    ["priceCents", { priceCents: 8.99 }],
    ["priceCents", { priceCents: -1 }],
    ["priceCents", { priceCents: 2 ** 31 }],
    ["priceCents", { priceCents: "$8.99" }],
    ["priceType", { priceType: "auction" }],
    ["itemType", { itemType: "dish" }],
    ["isAvailable", { isAvailable: "no" }],
    ["currency", { currency: "EUR" }],
    ["sortOrder", { sortOrder: -1 }],
    ["sortOrder", { sortOrder: 1_000_001 }],
    ["categoryId", { categoryId: "01J00000000000000000000000" }],
    ["categoryId", { categoryId: "nonsense" }],
    ["description", { description: "x".repeat(5001) }],
    ["metadata", { metadata: { text: "x".repeat(9000) } }],
    ["metadata", { metadata: { "nul\u0000": 1 } }],
    ["metadata", { metadata: { deep: [{ half: "\ud800" }] } }],
    ["metadata", { metadata: [] }],
    ["id", { id: "01J00000000000000000000000" }]
  ])("is not changed by a wrong %s", async (path, fields) => {
    const { id } = await newBusiness(owner)
    const item = await newItem(owner, id)
    const wrong = { error: { code: "validation_error", details: { issues: [{ path }] } } }
    for (
      const answer of [
        await owner.post(`${catalogOf(id)}/items`, { name: "New", ...fields }),
        await patchItem(id, item.id, fields)
      ]
    ) expect([answer.status, answer.body]).toMatchObject([422, wrong])
    expect(await readCatalog(owner, id)).toMatchObject({ categories: [], items: [item] })
  })

  it("takes no category of another business for an item", async () => {
    const [one, other] = [await newBusiness(owner), await newBusiness(owner)]
    const category = await newCategory(owner, other.id)
    expect((await owner.post(`${catalogOf(one.id)}/items`, { name: "A", categoryId: category.id })).status).toBe(422)
    expect((await owner.delete(`${catalogOf(one.id)}/categories/${category.id}`)).status).toBe(404)
    expect((await patchCategory(one.id, category.id, { name: "Mine" })).status).toBe(404)
    const item = await newItem(owner, other.id)
    expect((await patchItem(one.id, item.id, { name: "Mine" })).status).toBe(404)
    expect((await owner.delete(`${catalogOf(one.id)}/items/${item.id}`)).status).toBe(404)
    expect(await readCatalog(owner, other.id)).toMatchObject({ items: [{ name: "Corn Ribs" }], categories: [{}] })
  })

  it("asks for at least one field", async () => {
    const { id } = await newBusiness(owner)
    const [item, category] = [await newItem(owner, id), await newCategory(owner, id)]
    expect((await patchItem(id, item.id, {})).status).toBe(422)
    expect((await patchCategory(id, category.id, {})).status).toBe(422)
  })
})
