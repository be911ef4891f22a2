import { itemFields } from "#src/imports/fields.ts"
import { fitOf, isCents, looksLikeMoney, plainHeader } from "#src/imports/header-words.ts"
import { suggestMappings } from "#src/imports/suggest-mappings.ts"
import { FastCheck as fc } from "effect"
import { assert, describe, expect, it } from "vitest"

/** What a column has in it that says nothing of its field: neither a price nor a number alone. */
const cells = ["see page 5"]
const suggest = (headers: ReadonlyArray<string>, missing = itemFields as ReadonlyArray<typeof itemFields[number]>) =>
  suggestMappings(headers, headers.map((name) => ({ name, cells })), missing)

describe("a suggested mapping", () => {
  it.each<[string, ReadonlyArray<string>, Record<string, string>]>([
    [
      "Square",
      ["Token", "Item Name", "Variation Name", "SKU", "Description", "Categories", "Price", "Option Name 1"],
      {
        "Item Name": "name",
        Description: "description",
        Price: "price",
        Categories: "category",
        "Variation Name": "variation"
      }
    ],
    [
      "Shopify",
      ["Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Variant SKU", "Variant Price"],
      { Title: "name", "Body (HTML)": "description", "Variant Price": "price", Type: "category" }
    ],
    [
      "Shopify",
      ["Title", "URL handle", "Description", "Vendor", "Product category", "Price", "Compare-at price", "SKU"],
      { Title: "name", Description: "description", Price: "price", "Product category": "category" }
    ],
    [
      "Toast",
      ["Menu Name", "Menu Group", "Menu Item", "Item Description", "Base Price", "PLU"],
      { "Menu Item": "name", "Item Description": "description", "Base Price": "price", "Menu Group": "category" }
    ],
    [
      "WooCommerce",
      ["ID", "Type", "SKU", "Name", "Short description", "Description", "Sale price", "Regular price", "Categories"],
      { Name: "name", Description: "description", "Regular price": "price", Categories: "category" }
    ],
    [
      "Lightspeed",
      ["id", "handle", "sku", "name", "description", "product_category", "supply_price", "retail_price", "tax_name"],
      { name: "name", description: "description", retail_price: "price", product_category: "category" }
    ],
    [
      "Lightspeed",
      ["System ID", "UPC", "Custom SKU", "Item", "Qty.", "Price", "Tax", "Category", "Brand"],
      { Item: "name", Price: "price", Category: "category" }
    ],
    [
      "Clover",
      ["Clover ID", "Name", "Alternate Name", "Price", "Price Type", "Price Unit", "Cost", "Product Code", "Category"],
      { Name: "name", Price: "price", "Price Type": "price_type", Category: "category" }
    ],
    [
      "Google Merchant",
      ["id", "title", "description", "link", "image_link", "availability", "price", "product_type"],
      { title: "name", description: "description", price: "price", product_type: "category" }
    ],
    [
      "Etsy",
      ["TITLE", "DESCRIPTION", "PRICE", "CURRENCY_CODE", "QUANTITY", "TAGS", "MATERIALS", "IMAGE1"],
      { TITLE: "name", DESCRIPTION: "description", PRICE: "price" }
    ],
    [
      "Uber Eats",
      ["Menu Name", "Category Name", "Item Name", "Item Description", "Item Price", "Tax Rate"],
      { "Item Name": "name", "Item Description": "description", "Item Price": "price", "Category Name": "category" }
    ],
    [
      "Vagaro",
      ["Service Category", "Service Name", "Service Description", "Duration", "Price"],
      {
        "Service Name": "name",
        "Service Description": "description",
        Price: "price",
        "Service Category": "category"
      }
    ]
  ])("knows an export of %s by its columns", (program, headers, mappings) => {
    expect(suggest(headers)).toEqual({ program, mappings, undecided: [] })
  })

  it.each<[ReadonlyArray<string>, Record<string, string>]>([
    [["Name", "Price (USD)", "In stock"], { Name: "name", "Price (USD)": "price" }],
    [["Dish", "Details", "Our price", "Section"], {
      Dish: "name",
      Details: "description",
      "Our price": "price",
      Section: "category"
    }],
    [["item", "price small", "price large"], { item: "name", "price small": "price" }],
    [["Bezeichnung", "Beschreibung", "Preis", "Kategorie"], {
      Bezeichnung: "name",
      Beschreibung: "description",
      Preis: "price",
      Kategorie: "category"
    }],
    [["itemName", "priceCents", "itemType", "unit price"], {
      itemName: "name",
      priceCents: "price_cents",
      itemType: "item_type"
    }],
    [["Item", "Price (EUR)", "Price €", "Price GBP", "priceCad", "Dept"], { Item: "name", Dept: "category" }],
    [["Compare-at price", "Cost price", "Price unit", "Date sale price starts", "SKU", "Stock"], {}]
  ])("of the columns %j is %j", (headers, mappings) => {
    expect(suggest(headers)).toEqual({ program: null, mappings, undecided: [] })
  })

  it("leaves alone what is not missing", () => {
    expect(suggest(["Title", "Regular price"], ["price"]).mappings).toEqual({ "Regular price": "price" })
    expect(suggest(["Title", "Regular price"], []).mappings).toEqual({})
  })

  it("takes a column of amounts in a currency for the price when no header is one", () => {
    const columns = [{ name: "Size", cells: ["L", ""] }, { name: "Each", cells: ["$6.50", "$7", ""] }]
    expect(suggestMappings(["Size", "Each"], columns, itemFields).mappings).toEqual({ Each: "price" })
    expect([looksLikeMoney(["6.50 $", "x"]), looksLikeMoney(["6.50"]), looksLikeMoney([""])]).toEqual([
      true,
      false,
      false
    ])
  })

  it("of any columns names each column and each field once at most, and only given ones", () => {
    const word = fc.constantFrom(
      "Price",
      "Item",
      "Name",
      "price",
      "cents",
      "Menu",
      "Group",
      "Type",
      "USD",
      "(",
      "Ü",
      "_"
    )
    const header = fc.oneof(fc.string(), fc.array(word, { maxLength: 4 }).map((words) => words.join(" ")))
    fc.assert(fc.property(fc.array(header, { maxLength: 12 }), fc.subarray([...itemFields]), (headers, missing) => {
      const entries = Object.entries(suggest(headers, missing).mappings)
      const fields = entries.map(([, target]) => target === "price_cents" ? "price" : target)
      assert.isTrue(entries.every(([name]) => headers.includes(name)))
      assert.isTrue(fields.every((field) => missing.some((one) => one === field)))
      assert.equal(new Set(fields).size, fields.length)
    }))
  })

  it("reads headers without regard to capitals, marks and currency", () => {
    for (const name of ["Price (USD)", "PRICE_USD", "price-usd", "priceUsd", " Price  $ "]) {
      expect(fitOf("price", plainHeader(name)), name).toBe(0)
    }
    expect(plainHeader("Body (HTML)")).toBe("body html")
    expect(["price_cents", "Price (cents)", "priceInCents", "percents"].map(plainHeader).map(isCents)).toEqual([
      true,
      true,
      true,
      false
    ])
  })
})
