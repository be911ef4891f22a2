import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { messagesOf, readFile } from "./support/read-file.ts"

const header = "handleId,fieldType,name,price,surcharge,visible,productOptionDescription1"
const read = (rows: ReadonlyArray<string>, mappings: Mappings = {}) =>
  Either.getOrThrow(readFile("a.csv", [header, ...rows, ""].join("\n"), mappings))
const items = ({ plan }: ReturnType<typeof read>) =>
  plan.items.map(({ name, priceCents, priceType }) => [name, priceCents, priceType])

const shirt = "p1,Product,Shirt,20.00,,true,S;L"
const variant = (surcharge: string, option: string, price = "", name = "", visible = "true") =>
  `p1,Variant,${name},${price},${surcharge},${visible},${option}`

describe("a variation with a surcharge", () => {
  it("costs the item's price and the surcharge, and the item starts at the lowest", () => {
    const reading = read([shirt, variant("2.50", "S"), variant("5", "L"), "p2,Product,Mug,9.00,,true,"])
    expect(items(reading)).toEqual([
      ["Shirt", 2250, "starting_at"],
      ["Shirt, S", 2250, "fixed"],
      ["Shirt, L", 2500, "fixed"],
      ["Mug", 900, "fixed"]
    ])
    expect(messagesOf(reading)).toEqual([
      "rows 3 and 4 are variations with a surcharge on the price of the item above, such as \"Shirt, S\" 22.50, \"Shirt, " +
      "L\" 25.00; that item has the lowest price, where all are known"
    ])
    expect(reading.mappings).toContainEqual(expect.objectContaining({ target_field: "surcharge" }))
    expect(reading.unmapped).toEqual(["handleId", "fieldType"])
  })

  it("may repeat the item's name and price", () => {
    expect(items(read([shirt, variant("0.0", "S", "20", "Shirt"), variant("0", "L", "20.00", "Shirt")]))).toEqual([
      ["Shirt", 2000, "fixed"],
      ["Shirt, S", 2000, "fixed"],
      ["Shirt, L", 2000, "fixed"]
    ])
  })

  it.each([
    [shirt, variant("10%", "S"), "\"10%\""],
    [shirt, variant("", "S"), "none"],
    [shirt, variant("-5", "S"), "\"-5\""],
    [shirt, variant("€5", "S"), "\"€5\""],
    [shirt, variant("from 5", "S"), "\"from 5\""],
    [shirt, variant("4.999", "S"), "\"4.999\""],
    [shirt, variant("5", "S", "30"), "\"5\""],
    [shirt, variant("21474836", "S"), "\"21474836\""],
    ["p1,Product,Shirt,,,true,S;L", variant("5", "S"), "\"5\""],
    ["p1,Product,Shirt,from 20,,true,S;L", variant("5", "S"), "\"5\""],
    ["p1,Product,Shirt,$20/lb,,true,S;L", variant("5", "S"), "\"5\""]
  ])("has no price where the sum is not certain, nor has its item: %s, %s", (product, row, says) => {
    const reading = read(["p2,Product,Mug,9.00,,true,", product, row, variant("1", "L", "7")])
    expect(items(reading).map(([name, price]) => [name, price])).toEqual([
      ["Mug", 900],
      ["Shirt", null],
      ["Shirt, S", null],
      ["Shirt, L", null]
    ])
    expect(messagesOf(reading).find((message) => message.includes("can't be added"))).toBe(
      `rows 4 and 5 have a surcharge, or none, that can't be added to a price ("Shirt, S" ${says}, "Shirt, L" "1"): ` +
        "imported without a price, as is the item above a variation among them. Write the item's price and each surcharge " +
        "as amounts in US dollars, such as 5.00 and 0.00"
    )
  })

  it("that is hidden does not count for the item's price", () => {
    const reading = read([shirt, variant("0", "S", "", "", "false"), variant("5", "L")])
    expect(items(reading)[0]).toEqual(["Shirt", 2500, "fixed"])
    expect(reading.plan.items.map(({ isAvailable = true }) => isAvailable)).toEqual([true, false, true])
  })

  it("does not go live without all prices unless the caller says so", () => {
    const rows = ["p1,Product,Shirt,,,true,S", variant("5", "S")]
    expect(read(rows).loss?.message).toMatch(
      /^would publish no price: row 3 has .*; or pass mappings \{"price":"ignore"\} to publish without prices$/
    )
    expect(read(rows, { price: "ignore" }).loss).toBeUndefined()
  })
})

describe("a column of surcharges or discounts", () => {
  it.each(["surcharge", "Surcharge (USD)", "Price surcharge", "Aufpreis", "Größenaufschlag", "Recargo", "Meerprijs"])(
    "%s is never suggested as the price",
    (column) => {
      for (const cell of ["5.00", "$5.00"]) {
        const reading = Either.getOrThrow(readFile("a.csv", `name,${column}\nShirt,${cell}\n`))
        expect(reading.suggestion).toMatchObject({ mappings: {}, undecided: [] })
        expect(messagesOf(reading)).toEqual([
          `column ${column} was left out: 1 row has something in it, such as "${cell}"; the prices are imported without it`
        ])
      }
    }
  )

  it("is not the price by its dollars", () => {
    const reading = Either.getOrThrow(readFile("a.csv", "name,discount\nShirt,$5.00\n"))
    expect(reading.suggestion.mappings).toEqual({})
  })
})
