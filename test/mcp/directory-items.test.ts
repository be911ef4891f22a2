import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { always, connectDirectory, never, setAgentAccess, shownBusiness } from "../support/directory-door.ts"
import { freshAddress } from "../support/http.ts"
import { callTool } from "../support/mcp.ts"

const berth = useBerth()
let owner: Account
let projectId: string
let client: Client

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
  client = await connectDirectory(berth.url, { "x-forwarded-for": freshAddress() })
})

interface Found {
  readonly businesses: ReadonlyArray<{
    readonly slug: string
    readonly matchedItem?: { readonly name: string; readonly price: string; readonly furtherItems?: number }
  }>
  readonly hint?: string
}
const find = async (args: Readonly<Record<string, unknown>>) =>
  (await callTool(client, "search_businesses", args)).structuredContent as unknown as Found
/** Who is found, each with the item that matched. */
const foundBy = async (args: Readonly<Record<string, unknown>>) =>
  Object.fromEntries((await find(args)).businesses.map(({ matchedItem, slug }) => [slug, matchedItem?.name]))
const soon = (args: Readonly<Record<string, unknown>>) =>
  expect.poll(() => foundBy(args), { timeout: 15_000, interval: 300 })

const shown = (name: string, city: string, extra: object = {}): Promise<Business> =>
  shownBusiness(owner, { projectId, name, templateType: "restaurant" }, {
    contact: { address: { city, state: "CO" } },
    hours: always,
    ...extra
  })

describe("what businesses offer, in the directory's own search", () => {
  it("finds a business by one item that has all of the words, and names the item with its price", async () => {
    const inOne = await shown("Quill and Fern", "Durango")
    const inTwo = await shown("Brass Otter", "Durango")
    const { id: categoryId } = await newCategory(owner, inOne.id, { name: "Zuppette" })
    await newItem(owner, inOne.id, { name: "Bread" })
    await newItem(owner, inOne.id, {
      name: "Quince Margherita",
      description: "Gluten-free, with basil",
      priceCents: 1450,
      categoryId
    })
    await newItem(owner, inTwo.id, { name: "Quince tart" })
    await newItem(owner, inTwo.id, { name: "Gluten-free bread" })

    const matched = { [inOne.slug]: "Quince Margherita" }
    await soon({ query: "gluten-free quince" }).toEqual(matched)
    const { businesses: [first] } = await find({ query: "the best gluten free quinces near me" })
    expect(first).toMatchObject({ slug: inOne.slug, matchedItem: { name: "Quince Margherita", price: "$14.50" } })
    expect(await foundBy({ query: "zuppetta quince" }), "its category in the menu").toEqual({})
    expect(await foundBy({ query: "zuppette quince" }), "its category in the menu").toEqual(matched)
    expect(await foundBy({ query: "quince gluten durango restaurant" }), "with words of the listing").toMatchObject(
      matched
    )
    expect(await foundBy({ query: "gluten-free quince", city: "Durango, CO" })).toEqual(matched)
    expect(await foundBy({ query: "gluten-free quince", city: "Pueblo, CO" })).toEqual({})
    expect(await foundBy({ query: "gluten-free quince", category: "Restaurant" })).toEqual(matched)
    expect(await foundBy({ query: "gluten-free quince", category: "Salon" })).toEqual({})
    expect((await find({ query: "gluten-free rhubarb" })).hint).toMatch(/words that are all in one item/)
  })

  it("puts those whose names say it first, then those that offer it, then those that have a part of it", async () => {
    const named = await shown("Tamarind Shrub House", "Salida")
    const partly = await shown("Tamarind Row", "Salida")
    const offering = await shown("Pewter Hen", "Salida")
    await newItem(owner, offering.id, { name: "Tamarind shrub" })
    await soon({ query: "tamarind shrub" }).toHaveProperty(offering.slug)
    const order = async (query: string) => (await find({ query })).businesses.map(({ slug }) => slug)
    expect(await order("tamarind shrub")).toEqual([named.slug, offering.slug])
    await newItem(owner, offering.id, { name: "Tamarind cordial" })
    await soon({ query: "tamarind cordial" }).toHaveProperty(offering.slug, "Tamarind cordial")
    const [first, ...rest] = await order("tamarind cordial")
    expect([first, rest.sort()]).toEqual([offering.slug, [named.slug, partly.slug].sort()])
  })

  it("says that nothing has all of the words, where those that are shown have some of them", async () => {
    const only = await shown("Copper Heron", "Gunnison")
    await soon({ query: "where can I get okonomiyaki in Gunnison" }).toEqual({ [only.slug]: undefined })
    const { hint } = await find({ query: "where can I get okonomiyaki in Gunnison" })
    expect(hint).toMatch(/^No business and no item has all of these words/)
    expect((await find({ query: "copper heron gunnison" })).hint).toBeUndefined()
  })

  it("follows changes: what is renamed, sold out, deleted or hidden is found no more", async () => {
    const business = await shown("Slate Heron", "Ouray")
    const item = await newItem(owner, business.id, { name: "Persimmon flan" })
    const path = `${businesses}/${business.id}/catalog/items/${item.id}`
    const persimmon = { query: "persimmon flan" }
    const isFound = { [business.slug]: "Persimmon flan" }
    await soon(persimmon).toEqual(isFound)
    await owner.patch(path, { name: "Medlar flan" })
    expect(await foundBy(persimmon), "at once").toEqual({})
    await soon({ query: "medlar" }).toEqual({ [business.slug]: "Medlar flan" })
    await owner.patch(path, { name: "Persimmon flan", isAvailable: false })
    expect(await foundBy(persimmon)).toEqual({})
    await owner.patch(path, { isAvailable: true })
    await soon(persimmon).toEqual(isFound)
    await setAgentAccess(owner, business, false)
    expect(await foundBy(persimmon)).toEqual({})
    await setAgentAccess(owner, business, true)
    expect(await foundBy(persimmon)).toEqual(isFound)
    await owner.patch(`/v1/directory/${business.listingId}`, { visible: false })
    expect(await foundBy(persimmon)).toEqual({})
    await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
    await soon(persimmon).toEqual(isFound)
    await owner.request("DELETE", path)
    expect(await foundBy(persimmon)).toEqual({})
  })

  it("leaves out those that are closed when only open ones are wanted", async () => {
    const open = await shown("Linen Fox", "Lamar")
    const closed = await shown("Velvet Fox", "Lamar", { hours: never })
    for (const { id } of [open, closed]) await newItem(owner, id, { name: "Loquat crumble" })
    await soon({ query: "loquat crumble" }).toEqual({
      [open.slug]: "Loquat crumble",
      [closed.slug]: "Loquat crumble"
    })
    expect(await foundBy({ query: "loquat crumble", open_now: true })).toEqual({ [open.slug]: "Loquat crumble" })
  })

  it("names the cheapest of the items that match best, and keeps to a price that the words name", async () => {
    const bravo = await shown("Bravo Pizza", "Salina")
    const dear = await shown("Tall Oven", "Salina")
    const items = [
      [bravo, { name: "Gluten-free Pizza Funghi", priceCents: 1750 }],
      [bravo, { name: "Gluten-free Pizza Bianca", priceCents: 1200 }],
      [bravo, { name: "Gluten-free brownie", priceCents: 400 }],
      [bravo, { name: "Gluten-free Pizza for a party" }],
      [bravo, { name: "Gluten-free Pizza of a caterer", priceCents: 100, priceType: "free_estimate" }],
      [dear, { name: "Gluten-free Pizza Rossa", priceCents: 1600 }],
      [dear, { name: "Chili dip", description: "Goes with gluten-free pizza", priceCents: 300 }]
    ] as const
    for (const [{ id }, item] of items) await newItem(owner, id, item)
    const city = "Salina"
    const all = { [bravo.slug]: "Gluten-free Pizza Bianca", [dear.slug]: "Gluten-free Pizza Rossa" }
    await soon({ query: "gluten-free pizza", city }).toEqual(all)
    await expect.poll(async () => (await find({ query: "gluten-free pizza", city })).businesses).toContainEqual(
      expect.objectContaining({
        matchedItem: { name: "Gluten-free Pizza Bianca", price: "$12.00", furtherItems: 3 }
      })
    )
    const cheap = await find({ query: "gluten-free pizza under 15 dollars", city })
    expect(cheap.businesses.map(({ matchedItem, slug }) => [slug, matchedItem])).toEqual([
      [bravo.slug, { name: "Gluten-free Pizza Bianca", price: "$12.00" }],
      [dear.slug, { name: "Chili dip", price: "$3.00" }]
    ])
    expect(cheap.hint).toMatch(/^Each matchedItem is \$15.00 or less/)
    expect(await foundBy({ query: "gluten-free pizza rossa up to $16", city })).toMatchObject({
      [dear.slug]: "Gluten-free Pizza Rossa"
    })
    const none = await find({ query: "gluten-free pizza for less than 2.50", city })
    expect(none.hint).toMatch(/^Nothing that matches is known to be \$2.50 or less/)
    expect(await foundBy({ query: "gluten-free pizza for less than 2.50", city })).toEqual(all)
    expect((await find({ query: "pizza with horseradish under $15", city })).hint).toMatch(
      /\$15.00 or less chose nothing/
    )
  })

  it("takes what sounds like a price for a name where a listing has all of it", async () => {
    const named = await shown("Larch Under 21", "Salina")
    await shown("Larch Row", "Salina")
    const { businesses: [first], hint } = await find({ query: "larch under 21" })
    expect([first?.slug, hint]).toEqual([named.slug, undefined])
    expect((await find({ query: "larch under 22" })).hint).toMatch(/chose nothing/)
  })
})
