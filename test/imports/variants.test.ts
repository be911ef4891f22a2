import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { messagesOf, readFile } from "./support/read-file.ts"

const read = (rows: ReadonlyArray<string>, mappings: Mappings = {}) =>
  Either.getOrThrow(readFile("a.csv", `${rows.join("\n")}\n`, mappings))
const items = (reading: ReturnType<typeof read>) =>
  reading.plan.items.map(({ category, name, priceCents }) => [name, priceCents, category])

describe("a row without a name", () => {
  const loyverse = [
    "Handle,Nombre,Categoria,Opción 1 nombre,Opción 1 valor,Coste,Precio [Centro]",
    "napo,Napolitana,Pizzas,Tamaño,pequeña,2,9.00",
    "napo,,,,mediana,3,12.00",
    "napo,,,,familiar,4,15.00",
    "agua,Agua,Bebidas,,,1,2.00",
    "otra,,,,,1,3.00"
  ]
  const mappings = { Nombre: "name", Categoria: "category", "Precio [Centro]": "price" } as const

  it("and with the handle of the row above and a price is a variation of it, in its category", () => {
    const reading = read(loyverse, mappings)
    expect(items(reading)).toEqual([
      ["Napolitana, pequeña", 900, "Pizzas"],
      ["Napolitana, mediana", 1200, "Pizzas"],
      ["Napolitana, familiar", 1500, "Pizzas"],
      ["Agua", 200, "Bebidas"]
    ])
    expect(messagesOf(reading)).toEqual([
      "rows 3 and 4 have no name and were imported as variations of the item above, such as \"Napolitana, mediana\", " +
      "\"Napolitana, familiar\"",
      "row 6 has no name; skipped: \"otra, 1, 3.00\""
    ])
  })

  it("has a parent whose own option is cleaned, and is left out where the name would be too long", () => {
    const of = (option: string) =>
      read([
        "Handle,name,Option1 Value,price",
        `a,Soup,"${option}",5`,
        "a,,large,6"
      ]).plan.items.map(({ name }) => name)
    expect(of("s\u0000m\u0007all\n(hot)")).toEqual(["Soup, small (hot)", "Soup, large"])
    expect(of("s".repeat(300))).toEqual(["Soup", "Soup, large"])
  })

  it("is the same with its option mapped to variation", () => {
    expect(items(read(loyverse, { ...mappings, "Opción 1 valor": "variation" }))).toEqual(
      items(read(loyverse, mappings))
    )
  })

  it("and with pictures only is told in one line with the others", () => {
    const reading = read([
      "Handle,Title,Type,Option1 Value,Option2 Value,Variant Price,Image Src",
      "shirt,Shirt,Clothing,S,Red,48.00,a.jpg",
      "shirt,,,L,Blue,54.00,",
      ...Array.from({ length: 5 }, (_, at) => `shirt,,,,,,b${at}.jpg`),
      "mug,Mug,Kitchen,Default Title,,16.00,c.jpg",
      "mug,,,,,,d.jpg"
    ], { Title: "name", Type: "category", "Variant Price": "price" })
    expect(items(reading)).toEqual([
      ["Shirt, S / Red", 4800, "Clothing"],
      ["Shirt, L / Blue", 5400, "Clothing"],
      ["Mug", 1600, "Kitchen"]
    ])
    expect(messagesOf(reading)).toEqual([
      "row 3 has no name and was imported as a variation of the item above, such as \"Shirt, L / Blue\"",
      "rows 4, 5, 6 and 3 more have neither a name nor a price, but pictures or details of the item above; skipped"
    ])
  })

  it("has its columns among those that are imported", () => {
    const { mappings: columns, unmapped } = read(loyverse, mappings)
    expect(columns.map(({ source_field, target_field }) => [source_field, target_field])).toContainEqual([
      "Opción 1 valor",
      "variation"
    ])
    expect(unmapped).toEqual(["Handle", "Opción 1 nombre", "Coste"])
    expect(read(["name,price,Published", "Soup,5,0"])).toMatchObject({
      unmapped: [],
      mappings: [{ target_field: "name" }, { target_field: "price" }, { target_field: "is_available" }]
    })
  })

  it("is skipped as before where the file has no handle", () => {
    expect(messagesOf(read(["name,price", "Soup,5", ",6"]))).toEqual(["row 3 has no name; skipped: \"6\""])
  })
})

describe("an export of WooCommerce", () => {
  const rows = [
    "ID,Type,SKU,Name,Published,Visibility in catalog,Sale price,Regular price,Categories,Parent,Attribute 1 value(s)",
    "9,variation,hoodie-red,Hoodie - Red,1,visible,42,45,,hoodie,Red",
    "1,variable,hoodie,Hoodie,1,visible,,,Clothing > Hoodies,,\"Red, Blue\"",
    "2,variation,,Hoodie - Blue,1,visible,,45,,id:1,Blue",
    "3,variation,,,1,visible,,46,,id:1,Green",
    "4,grouped,set,Logo set,1,visible,,,Clothing,,",
    "5,simple,cap,Cap,1,hidden,,16,\"Clothing, Clothing > Accessories\",,",
    "6,simple,draft,Not yet,-1,visible,,20,\"Soups\\, hot\",,"
  ]
  const reading = read(rows, { "Regular price": "price", Categories: "category" })

  it("has the category of the parent for its variations, before and after it, and of several the deepest", () => {
    expect(items(reading)).toEqual([
      ["Hoodie - Red", 4500, "Hoodies"],
      ["Hoodie", null, "Hoodies"],
      ["Hoodie - Blue", 4500, "Hoodies"],
      ["Hoodie, Green", 4600, "Hoodies"],
      ["Logo set", null, "Clothing"],
      ["Cap", 1600, "Accessories"],
      ["Not yet", 2000, "Soups, hot"]
    ])
  })

  it("has hidden items and drafts as not available", () => {
    expect(reading.plan.items.map(({ isAvailable = true }) => isAvailable)).toEqual([
      ...Array.from({ length: 5 }, () => true),
      false,
      false
    ])
    const shown = read(rows, { "Regular price": "price", Published: "ignore", "Visibility in catalog": "ignore" })
    expect(shown.plan.items.every(({ isAvailable = true }) => isAvailable)).toBe(true)
  })

  it("tells each of these in one line, and sale prices with rows of both", () => {
    expect(messagesOf(reading)).toEqual([
      "column Sale price was left out and has other prices than Regular price: row 2, \"Hoodie - Red\": \"45\" and \"42\"; " +
      "an item has one price. Give each price a row of its own, or pass mappings {\"Sale price\":\"ignore\"}",
      "rows 7 and 8 are drafts or hidden (Visibility in catalog \"hidden\", Published \"-1\"): imported as not available. " +
      "Map that column to ignore to import them as available",
      "row 5 has no name and was imported as a variation of the item above, such as \"Hoodie, Green\"",
      "rows 3 and 6 are products without a price of their own, such as \"Hoodie\" (variable), \"Logo set\" (grouped): the " +
      "prices are those of its variations or parts",
      "rows 3, 7 and 8 have several categories or a path, and an item has one, such as \"Hoodies\" of \"Clothing > " +
      "Hoodies\", \"Accessories\" of \"Clothing, Clothing > Accessories\", \"Soups, hot\" of \"Soups\\, hot\": the last of " +
      "the longest path, else the first"
    ])
  })
})

describe("hidden items", () => {
  it.each([
    ["Status", "draft", "active"],
    ["Published", "false", "true"],
    ["Active (0/1)", "0", "1"],
    ["is_available", "false", "true"],
    ["visible", "FALSE", "TRUE"],
    ["Available for sale [My Shop]", "N", "Y"],
    ["Disponibles para la venta [Centro]", "N", "Y"],
    ["Visibility", "none", "both"],
    ["Hidden", "Yes", "No"],
    ["Veröffentlicht", "0", "1"],
    ["Status", "Brouillon", "Publié"],
    ["Status", "Entwurf", "Aktiv"],
    ["Estado", "borrador", "activo"],
    ["state", "draft", "published"],
    ["Sichtbar", "nein", "ja"],
    ["Online", "0", "1"],
    ["Disabled", "1", "0"],
    ["Discontinued", "yes", "no"],
    ["availability", "discontinued", "in stock"]
  ])("are those with %s %s, and their variations", (column, hides, shows) => {
    const reading = read([
      `Handle,name,price,${column}`,
      `a,Soup,5,${hides}`,
      "a,,6,",
      `b,Tea,3,${shows}`,
      "c,Water,2,"
    ])
    expect(reading.plan.items.map(({ isAvailable = true }) => isAvailable)).toEqual([false, false, true, true])
    expect(messagesOf(reading)[0]).toBe(
      `rows 2 and 3 are drafts or hidden (${column} "${hides}", with the item above): imported as not available. Map that column to ` +
        "ignore to import them as available"
    )
  })
})

describe("several categories in one cell", () => {
  it.each([
    ["Clothing > Tshirts", "Category", "Tshirts"],
    ["A;All collections;B", "collection", "A"],
    ["All collections; B", "collection", "B"],
    ["\"Gear\nBags\"", "category", "Gear"],
    ["\"Home,Accessories,Laptops\"", "Categories (x,y,z...)", "Accessories"],
    ["\"Soups, salads\"", "Category", "Soups, salads"],
    ["\"Default Category/Gear,Default Category/Gear/Bags\"", "categories", "Bags"],
    ["All products", "collection", "All products"]
  ])("%s in a column %s are %s", (cell, column, category) => {
    const reading = read([`name,price,sku,"${column}"`, `Soup,5,a,${cell}`], { [column]: "category" })
    expect(items(reading)).toEqual([["Soup", 500, category]])
    expect(messagesOf(reading).length).toBe(cell.replaceAll("\"", "") === category ? 0 : 1)
  })

  it("are one name in a file of the contract's columns alone", () => {
    expect(items(read(["name,price,category", "Soup,5,Hot > cold; warm"]))).toEqual([["Soup", 500, "Hot > cold; warm"]])
  })
})
