import { type Decimal, priceOfNumber, priceOfText } from "#src/imports/price.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"

const most = 2_147_483_647
const cents = fc.oneof(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 100_000 }))
const written = (value: number) => `${Math.floor(value / 100)}.${String(value % 100).padStart(2, "0")}`
const grouped = (value: number, group: string, point: string) => {
  const [dollars = "", rest = ""] = written(value).split(".")
  return `${dollars.replace(/\B(?=(\d{3})+$)/g, group)}${point}${rest}`
}
const right = (value: number) => Either.right(value)

describe("a price", () => {
  it("as text comes to the very cents it names, whatever they are", () => {
    fc.assert(
      fc.property(cents, (value) => {
        expect(priceOfText(written(value), "point")).toEqual(right(value))
        expect(priceOfText(` $ ${grouped(value, ",", ".")} `, "point")).toEqual(right(value))
        expect(priceOfText(`USD ${grouped(value, " ", ".")}`, "point")).toEqual(right(value))
        expect(priceOfText(grouped(value, ".", ","), "comma")).toEqual(right(value))
        expect(priceOfText(`${grouped(value, "\u202f", ",")} $`, "comma")).toEqual(right(value))
      }),
      { numRuns: 2000 }
    )
  })

  it("as a JSON number comes to the cents that its digits name, without the drift of a multiplication", () => {
    fc.assert(
      fc.property(cents, (value) => {
        expect(priceOfNumber(JSON.parse(written(value)))).toEqual(right(value))
      }),
      { numRuns: 5000 }
    )
    // 8.2 * 100 is 819.9999999999999, 1.005 is a little less in binary.
    expect([8.2, 1.1, 4.35, 1.005, 0.29, 9.995, 0.1 + 0.2].map((price) => priceOfNumber(price))).toEqual(
      [820, 110, 435, 101, 29, 1000, 30].map(right)
    )
  })

  it("with more digits than cents is rounded half up, as its digits say", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 99_999 }), fc.stringMatching(/^\d{1,12}$/), (value, digits) => {
      expect(priceOfText(`${written(value)}${digits}`, "point")).toEqual(right(value + (digits >= "5" ? 1 : 0)))
    }))
  })

  it("of any number is whole cents that fit an integer, or a reason", () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.float(), fc.integer()), (number) => {
        const price = priceOfNumber(number)
        if (Either.isLeft(price)) {
          expect(number < 0 || number > most / 100 || Number.isNaN(number), String(number)).toBe(true)
          return
        }
        expect(Number.isInteger(price.right) && price.right >= 0 && price.right <= most).toBe(true)
        expect(Math.abs(price.right - number * 100)).toBeLessThanOrEqual(0.5 + 1e-6)
      }),
      { numRuns: 2000 }
    )
  })

  it("of any text is whole cents that fit an integer, or a reason, in either writing", () => {
    const odd = fc.stringMatching(/^[-$0-9., ()A-Z]{0,14}$/)
    fc.assert(
      fc.property(fc.oneof(fc.string(), odd), fc.constantFrom<Decimal>("point", "comma"), (text, decimal) => {
        const price = priceOfText(text, decimal)
        if (Either.isRight(price)) {
          expect(Number.isInteger(price.right) && price.right >= 0 && price.right <= most).toBe(true)
        }
      }),
      { numRuns: 5000 }
    )
  })

  it.each<[string, Decimal, number | undefined]>([
    ["$1,234.50", "point", 123_450],
    ["$1,234.50", "comma", 123_450],
    ["US$ 12", "point", 1200],
    ["12 USD", "point", 1200],
    [".5", "point", 50],
    ["5.", "point", 500],
    ["0", "point", 0],
    ["1,234", "point", 123_400],
    ["8,99", "comma", 899],
    ["8,99", "point", undefined],
    ["1.234,50", "comma", 123_450],
    ["1.234,50", "point", undefined],
    ["1.234", "point", 123],
    ["1,234", "comma", undefined],
    ["1.234", "comma", undefined],
    ["1,23,456", "point", undefined],
    ["-5", "point", undefined],
    ["$-5.00", "point", undefined],
    ["(5.00)", "point", undefined],
    ["€5", "point", undefined],
    ["5-10", "point", undefined],
    ["1e3", "point", undefined],
    ["market price", "point", undefined],
    ["٥", "point", undefined],
    ["21474836.47", "point", 2_147_483_647],
    ["21474836.48", "point", undefined],
    ["=1+1", "point", undefined],
    ["Infinity", "point", undefined],
    ["0x10", "point", undefined]
  ])("%s where cents follow a %s is %s cents", (text, decimal, expected) => {
    expect(Either.getOrUndefined(priceOfText(text, decimal))).toBe(expected)
  })

  it("of a hundred thousand digits is a reason, at once", () => {
    const started = performance.now()
    for (const text of ["9".repeat(100_000), `1${",000".repeat(30_000)}`, " ".repeat(100_000), "$".repeat(100_000)]) {
      expect(Either.isLeft(priceOfText(text, "comma"))).toBe(true)
    }
    expect(performance.now() - started).toBeLessThan(500)
  })

  it("in JSON is no text, and nothing below zero or beyond what is stored", () => {
    for (const value of ["8.99", true, {}, [], -0.01, 1e8, 21_474_836.48, Infinity, NaN, 1e400]) {
      expect(Either.isLeft(priceOfNumber(value)), JSON.stringify(value)).toBe(true)
    }
    expect([0, -0, 1e-7, 21_474_836.47, 1e2].map((value) => priceOfNumber(value))).toEqual(
      [0, 0, 0, 2_147_483_647, 10_000].map(right)
    )
  })
})
