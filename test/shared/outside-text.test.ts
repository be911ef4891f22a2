import { quotable, storableText, withoutControls } from "#src/shared/outside-text.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const any = fc.string({ unit: "binary", maxLength: 60 })
const most = fc.integer({ min: 1, max: 40 })

describe("text from outside", () => {
  it("is storable, bounded and without control characters, whatever it was", () => {
    fc.assert(fc.property(any, most, (text, most) => {
      const quoted = quotable(text, most)
      expect(quoted.length).toBeLessThanOrEqual(most)
      expect(quoted.isWellFormed()).toBe(true)
      expect(quoted).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      const stored = storableText(text, most)
      expect(stored.length).toBeLessThanOrEqual(most)
      expect(stored.isWellFormed() && !stored.includes("\u0000")).toBe(true)
    }))
  })

  it("stays as it is when there is nothing wrong with it", () => {
    for (const text of ["", "plain", "Crème brûlée 💡", "two\nlines\tand a tab"]) {
      expect(quotable(text)).toBe(text)
      expect(storableText(text, 100)).toBe(text)
      expect(withoutControls(text)).toBe(text)
    }
  })

  it("is never cut in the middle of a character", () => {
    expect(storableText("ab💡", 3)).toBe("ab\ufffd")
    expect(quotable("abc💡de", 5)).toBe("abc\ufffd…")
  })

  it("can't write on a terminal", () => {
    expect(withoutControls("a\u001b[2Jb\rc\u009b31m\u0007")).toBe("a\ufffd[2Jb\ufffdc\ufffd31m\ufffd")
  })
})
