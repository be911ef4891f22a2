import { international, samePhone } from "#src/businesses/phone-number.ts"
import { describe, expect, it } from "vitest"

describe("a telephone number", () => {
  it("is one number however people space it, with the zero that is dialled within a country or without", () => {
    for (const spelled of ["+44 20 7946 0123", "+44 (0)20 7946 0123", "+44-( 0 )-20.7946.0123", "+44 (20) 7946 0123"]) {
      expect(international(spelled), spelled).toBe("+442079460123")
    }
    expect(samePhone("+44 (0)20 7946 0123", "+442079460123")).toBe(true)
  })

  it("is none without its country, or with letters, or of a length that no number has", () => {
    for (const other of ["020 7946 0123", "+0 20 7946 0123", "+44 20 79x6", "+1234", `+1${"2".repeat(15)}`, ""]) {
      expect(international(other), other).toBe(undefined)
    }
  })
})
