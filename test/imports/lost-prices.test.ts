import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { messagesOf, readCsv, readFile } from "./support/read-file.ts"

const csv = (content: string, mappings: Mappings = {}) => Either.getOrThrow(readFile("a.csv", content, mappings))
const json = (items: ReadonlyArray<object>, mappings: Mappings = {}) =>
  Either.getOrThrow(
    readFile(
      "a.json",
      JSON.stringify({ version: "1.0", business: { name: "A", description: "b" }, catalog_items: items }),
      mappings
    )
  )
const prices = ({ plan }: ReturnType<typeof csv>) => plan.items.map(({ priceCents }) => priceCents)

describe("an amount in another currency is no price", () => {
  const because = "is not in US dollars, the only currency of a catalog"

  it("by a column that says so, row by row", () => {
    const reading = csv(
      "TITLE,DESCRIPTION,PRICE,CURRENCY_CODE\nMug,x,12.00,EUR\nCup,x,5,USD\nJar,x,6,US$\nPot,x,7,\nGift,x,Free,GBP\n",
      { TITLE: "name" }
    )
    expect(prices(reading)).toEqual([null, 500, 600, 700, 0])
    expect(messagesOf(reading)).toEqual([
      `row 2, "Mug": price "12.00" ${because}: its CURRENCY_CODE is "EUR"; skipped`,
      "row 6, \"Gift\": price \"Free\" was read as 0.00"
    ])
  })

  it("unless the caller ignores that column", () => {
    expect(prices(csv("name,price,Currency\nMug,12.00,EUR\n", { Currency: "ignore" }))).toEqual([1200])
    expect(prices(json([{ name: "Mug", price: 12, currency: "EUR" }], { currency: "ignore" }))).toEqual([1200])
  })

  it.each(["Price (EUR)", "Price €", "Price GBP", "priceCad", "Price (C$)"])("by a column called %s", (column) => {
    const content = `name,${column}\nMug,12.00\n`
    const unmapped = csv(content)
    expect(unmapped.suggestion.mappings).toEqual({})
    expect(messagesOf(unmapped)).toEqual([`column ${column} was left out: its "12.00" ${because}`])
    expect(unmapped.loss?.message).toContain(`{"${column}":"ignore"}`)
    const mapped = csv(content, { [column]: "price" })
    expect(prices(mapped)).toEqual([null])
    expect(messagesOf(mapped)).toEqual([`row 2, "Mug": price "12.00" ${because}: its column is "${column}"; skipped`])
    expect(csv(content, { [column]: "ignore" }).loss).toBeUndefined()
  })

  it("by a key of a JSON item", () => {
    expect(prices(json([{ name: "A", price: 12, currency: "EUR" }, { name: "B", price: 5, currency: "USD" }]))).toEqual(
      [
        null,
        500
      ]
    )
    expect(prices(json([{ name: "A", priceEur: 12 }], { priceEur: "price" }))).toEqual([null])
  })
})

describe("columns that have prices too", () => {
  const told = (content: string, mappings: Mappings = {}) =>
    messagesOf(csv(content, mappings)).filter((message) => message.includes("price"))

  it("are told beside the price, each with three rows of both", () => {
    const large =
      "column Large was left out and has other prices than Small: row 3, \"Latte\": \"$3\" and \"$4\"; an " +
      "item has one price. Give each price a row of its own, or pass mappings {\"Large\":\"ignore\"}"
    const sizes = "name,Small,Large\nTea,$3,\nLatte,$3,$4\n"
    expect(told(sizes, { Small: "price" })).toEqual([large])
    expect(told(sizes, { Small: "price", Large: "ignore" })).toEqual([])
    expect(told("name,price,Large Price,Unit Price\nA,1,2,3\n").map((message) => message.slice(0, 18))).toEqual([
      "column Large Price",
      "column Unit Price "
    ])
    const four = ["A,1,2", "B,,3", "C,4,5", "D,6,6", "E,7,8"].join("\n")
    expect(told(`name,price,Online price\n${four}\n`)[0]).toContain(
      "row 2, \"A\": \"1\" and \"2\"; row 3, \"B\": none and \"3\"; row 4, \"C\": \"4\" and \"5\"; and 1 more;"
    )
  })

  it("and of which one may be the price are put to the owner, and none is recommended", () => {
    const question =
      "\"Small\" and \"Large\" may be the price, and differ: row 3, \"Latte\": \"3.00\" and \"4.00\". Ask " +
      "which of them customers pay, map that one to price and the others to ignore; or give each price a row of its own"
    const reading = csv("name,Small,Large\nTea,3.00,\nLatte,3.00,4.00\n")
    expect(reading.suggestion).toMatchObject({ mappings: {}, undecided: ["Small", "Large"] })
    expect(messagesOf(reading)).toEqual([`file has no price: ${question}`])
    expect(reading.loss?.message).toBe(`would publish no price: ${question}`)
  })

  it("are not told where they have the same prices", () => {
    expect(told("name,price,Online price\nA,1,1.00\nB,2,\nC,3,0\n")).toEqual([])
  })

  it("are not told where they are empty, or have what customers don't pay", () => {
    expect(messagesOf(csv("name,price,Sale price,Cost,Compare-at price,Price type note\nA,1,,2,3,fixed\n"))).toEqual([])
  })
})

describe("what a catalog is of little use without", () => {
  it("is lost where no price can be read, and said with the first", () => {
    const items = [{ name: "A", price: "5.00" }, { name: "B", price: "$12/hr" }]
    expect(json(items).loss).toEqual({
      path: "file",
      message: "would publish no price: none of its prices (2) can be read: catalog_items[0], \"A\": price \"5.00\" " +
        "is not a number of dollars. Write each as a number of US dollars without quotes, such as 5.00, or pass " +
        "mappings {\"price\":\"ignore\"} to publish without prices"
    })
    expect(json(items, { price: "ignore" })).toMatchObject({ loss: undefined, warnings: [] })
    expect(json([...items, { name: "C", price: 5 }]).loss).toBeUndefined()
    expect(readCsv("name,price\nLobster,Market price\n").loss).toBeUndefined()
  })

  it("is lost where no item of a JSON file can be imported, and said why", () => {
    expect(json([{ name: "" }, { x: 1 }]).loss?.message).toBe(
      "would publish no item: none of its 2 entries can be imported: catalog_items[0] has no name; skipped; " +
        "catalog_items[1] has no name; skipped"
    )
    expect(json([{ title: "Soup" }]).loss?.message).toContain("pass mappings {\"title\":\"name\"}")
    expect(json([]).loss).toBeUndefined()
  })
})

describe("a header below title rows of several cells", () => {
  const faultOf = (content: string) => Either.getOrThrow(Either.flip(readFile("a.csv", content)))

  it.each([
    ["Report,Menu items\nDate,2026-01-01\n\nItem Name,Price\nSoup,5\n", "Item Name"],
    ["Name,Corner Cafe\nDate,Jan 1\nItem,Price\nSoup,5\n", "Item"]
  ])("is found by what people call the fields: %j", (content, column) => {
    expect(faultOf(content).choice).toEqual({
      columns: [column, "Price"],
      suggestion: { program: null, mappings: { [column]: "name" }, undecided: [] }
    })
    expect(csv(content, { [column]: "name" }).plan.items).toMatchObject([{ name: "Soup", priceCents: 500 }])
  })

  it("is not taken from a row of prices whose commas look like a delimiter", () => {
    expect(faultOf("Speise;Preis (USD)\nSuppe;5,50\n").choice?.columns).toEqual(["Speise", "Preis (USD)"])
  })

  it("is not looked for below a header with names of the contract, or with usual ones", () => {
    expect(csv("name,notes\nService,Fee\n").plan.items).toHaveLength(1)
    expect(csv("name,price\nItem,Price\nSoup,5\n").plan.items).toHaveLength(2)
    expect(csv("Name,Regular price\nSoup,5\n").plan.items).toHaveLength(1)
  })
})
