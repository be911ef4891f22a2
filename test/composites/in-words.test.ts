import { inWords } from "#src/composites/in-words.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

describe("an answer in words", () => {
  it("names fields and entries, without ids and what is empty", () => {
    expect(inWords({
      items: [
        {
          id: "i1",
          name: "Pizza",
          price: "$13.50",
          isAvailable: true,
          description: "",
          metadata: {},
          priceCents: 1350
        },
        { id: "i2", title: "Calzone", categoryId: "c" }
      ],
      count: 2,
      nextCursor: null
    })).toBe("items: Pizza (price: $13.50, is available: yes, price cents: 1350); Calzone, count: 2")
    expect(inWords({ isOpen: false, opens_next: "09:00" })).toBe("is open: no, opens next: 09:00")
    expect(inWords("as it is")).toBe("as it is")
    expect(inWords({})).toBe("nothing")
    expect(inWords({ id: "x" })).toBe("nothing")
    expect(inWords(Array.from({ length: 12 }, (_, i) => i + 1))).toBe("1; 2; 3; 4; 5; 6; 7; 8; 9; 10; and 2 more")
  })

  it("is some text, whatever was answered", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const text = inWords(value)
      expect(typeof text).toBe("string")
      expect(text).not.toBe("")
    }))
  })
})
