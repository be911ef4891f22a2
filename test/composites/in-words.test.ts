import { inWords } from "#src/composites/in-words.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

describe("an answer in words", () => {
  it("names entries with their prices, and fields, without ids, what is empty and what is said twice", () => {
    expect(inWords({
      items: [
        {
          id: "i1",
          name: "Pizza",
          price: "$13.50",
          isAvailable: true,
          description: "With tomato",
          categoryName: "Mains",
          metadata: {},
          priceCents: 1350,
          priceType: "fixed"
        },
        { id: "i2", title: "Calzone", price: "$9.00", isAvailable: false, categoryId: "c" },
        { name: "Salad" }
      ],
      count: 3,
      nextCursor: null
    })).toBe("Pizza: $13.50 (With tomato, category: Mains); Calzone: $9.00 (available: no); Salad")
    expect(inWords({ isOpen: false, opens_next: "09:00" })).toBe("open: no, opens next: 09:00")
    expect(inWords({ items: [], count: 0 })).toBe("no items")
    expect(inWords("as it is")).toBe("as it is")
    expect(inWords({})).toBe("nothing")
    expect(inWords({ id: "x" })).toBe("nothing")
    expect(inWords(Array.from({ length: 12 }, (_, i) => i + 1))).toBe("1; 2; 3; 4; 5; 6; 7; 8; 9; 10; and 2 more")
  })

  it("reads out what a server wrote as JSON, at any depth", () => {
    const items = [{ name: "Pizza", price: "$13.50" }]
    expect(inWords(JSON.stringify({ items }, null, 2))).toBe("Pizza: $13.50")
    expect(inWords({ text: JSON.stringify({ items, open: true }) })).toBe("text: (items: Pizza: $13.50, open: yes)")
    expect(inWords("{not JSON}")).toBe("{not JSON}")
  })

  it("goes through an object's fields as often whether few or thousands of them are counts", () => {
    const readings = (counts: number) => {
      let times = 0
      const fields = new Proxy(Object.fromEntries(Array.from({ length: counts }, (_, i) => [`${i}count`, i])), {
        ownKeys: (target) => {
          times++
          return Reflect.ownKeys(target)
        }
      })
      inWords(fields)
      return times
    }
    expect(readings(3_000)).toBe(readings(3))
  })

  it("is never JSON, whatever was answered", () => {
    fc.assert(fc.property(fc.jsonValue({ noUnicodeString: true }), (value) => {
      const text = inWords(JSON.stringify({ a: value, b: [value] }))
      expect(text).not.toMatch(/"[ab]":/)
    }))
  })

  it("is some text, whatever was answered", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const text = inWords(value)
      expect(typeof text).toBe("string")
      expect(text).not.toBe("")
    }))
  })
})
