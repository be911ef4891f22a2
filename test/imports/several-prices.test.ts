import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { messagesOf, readFile } from "./support/read-file.ts"

const csv = (rows: ReadonlyArray<string>, mappings: Mappings = {}) =>
  Either.getOrThrow(readFile("a.csv", `${rows.join("\n")}\n`, mappings))
const json = (items: ReadonlyArray<object>, mappings: Mappings = {}) =>
  Either.getOrThrow(readFile("a.json", JSON.stringify(items), mappings))
const prices = ({ plan }: ReturnType<typeof csv>) => plan.items.map(({ priceCents }) => priceCents)

const cure = "and an item has one price. Write an item for each, such as \"Latte, Large\"; skipped"

describe("a price with more than one number", () => {
  it.each([
    "8.00 / 12.00",
    "8/12/16",
    "8|12",
    "8.00; 12.00",
    "8.00, 12.00",
    "8.00\n12.00",
    "8 12",
    "8 & 12",
    "8 or 12",
    "S 8.00; L 12.00",
    "S 8,00; L 12,00",
    "Small $8; Large $12",
    "$8 (small) $12 (large)",
    "from 8 / 12"
  ])("is none, and the row is told with the cure: %j", (cell) => {
    for (const others of ["Tea,3.00", "Tea,\"3,00\""]) {
      const reading = csv(["name,price", `Latte,"${cell}"`, others])
      expect(prices(reading)).toEqual([null, 300])
      expect(messagesOf(reading)).toEqual([
        `row 2, "Latte": price "${cell.replace("\n", " ")}" has more than one number, ${cure}`
      ])
    }
    expect(csv(["name,price", `Latte,"${cell}"`]).loss?.message).toContain("would publish no price")
  })

  it("is none in cents and in JSON either", () => {
    expect(messagesOf(csv(["name,price", "Latte,800|1200", "Tea,300"], { price: "price_cents" }))).toEqual([
      `row 2, "Latte": price "800|1200" has more than one number, ${cure}`
    ])
    const reading = json([{ name: "Latte", price: [8, 12] }, { name: "Mocha", price: "8 / 12" }, {
      name: "Tea",
      price: 3
    }])
    expect(prices(reading)).toEqual([null, null, 300])
    expect(messagesOf(reading)).toEqual([
      `catalog_items[0], "Latte": price [8,12] has more than one number, ${cure}`,
      `catalog_items[1], "Mocha": price "8 / 12" has more than one number, ${cure}`
    ])
  })
})

describe("a price that may be a list, beside as many forms", () => {
  it.each([
    ["8,12", "\"S,L\"", null],
    ["8,12,16", "S|M|L", null],
    ["100,200", "S / L", null],
    ["100 200", "S;L", null],
    ["8,12", "S", 812],
    ["1,050", "\"S,L\"", 105_000],
    ["1,200", "S|M|L", 120_000],
    ["1,200.00", "\"S,L\"", 120_000]
  ])("%s for %s is %s", (price, forms, cents) => {
    const reading = csv(["name,price,Sizes", `Latte,"${price}",${forms}`, "Tea,3.00,"])
    expect(prices(reading)).toEqual([cents, 300])
    expect(messagesOf(reading)).toEqual(
      cents !== null ? [] : [
        `row 2, "Latte": price "${price}" may be a list with a price for each form of the item. Write one price with its ` +
        "cents after a point, such as 1200.00, or an item for each, such as \"Latte, Large\"; skipped"
      ]
    )
  })

  it("is a price with cents where another row shows that cents follow a comma", () => {
    expect(prices(csv(["name,price,Sizes", "Shirt,\"19,90\",\"S,L\"", "Hat,\"9,00\","]))).toEqual([1990, 900])
    expect(prices(csv(["name;price;Sizes", "Shirt;19,90;S,L", "Hat;9,00;S,L"]))).toEqual([1990, 900])
    expect(prices(csv(["name,price,Sizes", "Shirt,\"8,12\",\"S,L\""], { Sizes: "ignore" }))).toEqual([812])
  })
})

describe("prices in another column", () => {
  const told = (where: string) =>
    `${where}: an item has one price. These were left out, and a price of 0 beside them. Write an item for each, such as ` +
    "\"Latte, Large\"; or map that column to ignore where it has no prices"

  it.each([
    ["Variants", "Small $8; Large $12"],
    ["Variants", "Small: 8.00 | Large: 12.00"],
    ["Größen", "klein 8,00; groß 12,00"],
    ["Notes", "Small $8, Large $12"],
    ["Variant prices", "8.00|12.00"]
  ])("are told with the row, and a price of 0 beside them is none: %s %s", (column, cell) => {
    const reading = csv([
      `name,price,${column}`,
      `Latte,8.00,"${cell}"`,
      `Mocha,0,"${cell}"`,
      `Flat,,"${cell}"`,
      "Tea,0,"
    ])
    expect(prices(reading)).toEqual([800, null, null, 0])
    expect(messagesOf(reading)).toContain(
      told(
        "rows 2, 3 and 4 have what may be more prices in another column " +
          `(${["Latte", "Mocha", "Flat"].map((name) => `"${name}": ${column} "${cell}"`).join(", ")})`
      )
    )
  })

  it.each([["Sizes", "Small|Medium|Large"], ["Nutrition", "Protein 10.50, Fat 3.20"], ["Sizes", "38; 40; 42"]])(
    "are not seen in %s %s",
    (column, cell) => {
      const reading = csv([`name,price,${column}`, `Latte,8.00,"${cell}"`, `Water,0,"${cell}"`])
      expect(prices(reading)).toEqual([800, 0])
      expect(messagesOf(reading)).toEqual([])
    }
  )

  it("do not go live with no price of an item until the caller says so", () => {
    const rows = ["name,price,Variants", "Latte,0,Small:8|Large:12", "Tea,,"]
    expect(csv(rows).loss?.message).toMatch(
      /^would publish no price: row 2 has .*; or pass mappings \{"price":"ignore","Variants":"ignore"\} to publish without/
    )
    expect(csv(rows, { price: "ignore", Variants: "ignore" }).loss).toBeUndefined()
  })

  it.each([
    [{ variants: [{ title: "S", price: "8.00" }, { title: "L", price: 12 }] }, "variants \"S $8.00; L $12\""],
    [{ prices: { S: 8, L: 12 } }, "prices \"S 8; L 12\""],
    [{ offer: { price: 8 } }, "offer \"$8\""],
    [{ note: "S $8; L $12" }, "note \"S $8; L $12\""]
  ])("of a JSON item are told too: %j", (fields, says) => {
    const reading = json([{ name: "Latte", price: 0, ...fields }, { name: "Tea", price: 3 }])
    expect(prices(reading)).toEqual([null, 300])
    expect(messagesOf(reading)).toContain(
      told(`catalog_items[0] has what may be more prices in another column ("Latte": ${says})`)
    )
    const [key = ""] = Object.keys(fields)
    const alone = [{ name: "Latte", ...fields }]
    expect(json(alone).loss?.message).toContain(`pass mappings {"${key}":"ignore"} to publish without`)
    expect(json(alone, { [key]: "ignore" }).loss).toBeUndefined()
  })
})
