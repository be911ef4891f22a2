import { numberPrice, writtenPrice } from "#src/imports/price-words.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { messagesOf, readCsv } from "./support/read-file.ts"

describe("a price in words", () => {
  it.each([
    ["from 9", 900, "starting_at"],
    ["From $9.50", 950, "starting_at"],
    ["starting at 9", 900, "starting_at"],
    ["9+", 900, "starting_at"],
    ["$9 and up", 900, "starting_at"],
    ["12-15", 1200, "starting_at"],
    ["$12.00 – $15.00", 1200, "starting_at"],
    ["15 to 12", 1200, "starting_at"],
    ["from 12 to 15", 1200, "starting_at"],
    ["$12/hr", 1200, "hourly"],
    ["12 per hour", 1200, "hourly"],
    ["$12 an hour", 1200, "hourly"],
    ["from $12/hour", 1200, "hourly"],
    ["$4.50/lb", 450, undefined],
    ["$20 per person", 2000, undefined],
    ["5 each", 500, undefined],
    ["50¢", 50, undefined],
    ["50 cents", 50, undefined],
    ["Free", 0, undefined],
    ["no charge", 0, undefined],
    ["Free estimate", null, "free_estimate"]
  ])("such as %s is read, and told", (text, cents, priceType) => {
    const price = Either.getOrThrow(writtenPrice(text, "point"))
    expect([price.cents, price.priceType]).toEqual([cents, priceType])
    expect(price.remark).toMatch(/^was read as /)
  })

  it.each([
    "Market price",
    "€5",
    "from €5",
    "call us",
    "2 for",
    "n/a",
    "TBD",
    "12-",
    "-12",
    "12/24",
    "1-2-3",
    "from",
    "x/hr"
  ])(
    "such as %s is no price",
    (text) => {
      expect(Either.isLeft(writtenPrice(text, "point"))).toBe(true)
    }
  )

  it("of a plain amount has no remark, unless it is rounded", () => {
    const remark = (text: string) => Either.getOrThrow(writtenPrice(text, "point")).remark
    expect(["8.99", "8.990000", "1,234", "$1,234.50", "=\"4.50\"", "1'234.50", "8"].map(remark)).toEqual(
      Array.from({ length: 7 }, () => undefined)
    )
    expect([remark("8.999"), remark("0.005")]).toEqual(["was rounded to 9.00", "was rounded to 0.01"])
    expect([8.999, 8.99, 0.1 + 0.2].map((price) => Either.getOrThrow(numberPrice(price)).remark)).toEqual([
      "was rounded to 9.00",
      undefined,
      undefined
    ])
  })

  it("of any text is whole cents or a reason, at once", () => {
    const words = fc.constantFrom(
      "from ",
      "12",
      "-",
      "/hr",
      " per ",
      "hour",
      "+",
      " to ",
      "each",
      "free",
      " ",
      "$",
      "€",
      "a"
    )
    const texts = fc.array(words, { maxLength: 30 }).map((parts) => parts.join(""))
    const started = performance.now()
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ maxLength: 200 })), (text) => {
        const price = writtenPrice(text, "point")
        expect(Either.isLeft(price) || price.right.cents === null || Number.isInteger(price.right.cents)).toBe(true)
      }),
      { numRuns: 3000 }
    )
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

describe("the price of an item", () => {
  it("sets its price type, unless the row has another than fixed, and is told with row, item and value", () => {
    const reading = readCsv(
      "name,price,price_type,item_type\nCut,from 9,,service\nWash,$12/hr,fixed,service\n" +
        "Visit,Free,,consultation\nWater,Free,,menu_item\nLobster,Market price,,\n"
    )
    expect(reading.plan.items.map(({ priceCents, priceType }) => [priceCents, priceType])).toEqual([
      [900, "starting_at"],
      [1200, "hourly"],
      [0, "free_estimate"],
      [0, "fixed"],
      [null, "fixed"]
    ])
    expect(messagesOf(reading)).toEqual([
      "row 2, \"Cut\": price \"from 9\" was read as 9.00, price_type starting_at",
      "row 3, \"Wash\": price \"$12/hr\" was read as 12.00, price_type hourly instead of fixed",
      "row 4, \"Visit\": price \"Free\" was read as 0.00, price_type free_estimate",
      "row 5, \"Water\": price \"Free\" was read as 0.00",
      "row 6, \"Lobster\": price \"Market price\" is not a price in dollars; skipped"
    ])
  })

  it("has a comma before its cents where another in the file does, whatever separates the cells", () => {
    const reading = readCsv("name,price\nSuppe,\"8,99\"\nBraten,\"1.234,50\"\nWein,1.500\n")
    expect(reading.plan.items.map(({ priceCents }) => priceCents)).toEqual([899, 123_450, null])
    expect(messagesOf(reading)).toEqual([
      "row 4, \"Wein\": price \"1.500\" can be read in two ways; write the cents with two digits; skipped"
    ])
  })
})
