import { askedWords } from "#src/analytics/asked-words.ts"
import { makeAskerLimit } from "#src/analytics/asker-limit.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const text = FastCheck.oneof(
  FastCheck.string({ unit: "binary", maxLength: 200 }),
  FastCheck.stringMatching(/^[\w @.+()/:-]{0,200}$/)
)

describe("the words of a search that are kept", () => {
  it("are a bounded line without what nobody sees, and stay as they are when kept again", () => {
    FastCheck.assert(
      FastCheck.property(text, (asked) => {
        const kept = askedWords(asked, 80)
        expect([...kept].length).toBeLessThanOrEqual(80)
        expect(kept.split(" ").length).toBeLessThanOrEqual(8)
        expect(kept).not.toMatch(/[\p{C}\p{Zl}\p{Zp}@]|^\s|\s$|\s\s/u)
        expect(kept).not.toMatch(/\p{Nd}(?:[\s().\-/]*\p{Nd}){5}/u)
        expect(kept.isWellFormed()).toBe(true)
      }),
      { numRuns: 2_000 }
    )
  })

  it("hold no address or number wherever it stands among other words", () => {
    const mail = FastCheck.emailAddress()
    const phone = FastCheck.constantFrom(
      "415-555-0132",
      "(415) 555 0132",
      "+49 30 901820",
      "+1.415.555.0132",
      "4155550132",
      "٤١٥٥٥٥٠١٣٢",
      "４１５-５５５-０１３２",
      "4111 1111 1111 1111"
    )
    const around = FastCheck.constantFrom("", "plumber", "best pizza near", "Ärzte für")
    FastCheck.assert(FastCheck.property(around, FastCheck.oneof(mail, phone), around, (before, personal, after) => {
      const kept = askedWords(`${before} ${personal} ${after}`, 80)
      const digits = (text: string) => [...text.normalize("NFKC")].filter((letter) => /\p{Nd}/u.test(letter)).length
      expect(kept).toBe(askedWords(`${before} ${after}`, 80))
      expect(digits(kept)).toBe(0)
    }))
  })

  it.each([
    ["  Vegan   DONUTS ", "vegan donuts"],
    ["Ｐｉｚｚａ\u00a0& Co", "pizza & co"],
    ["24 hour locksmith 80202", "24 hour locksmith 80202"],
    ["call me: ada @ example.com", "call me:"],
    ["see https://a.example/?q=me and www.b.example", "see and"],
    ["ramen https:/evil.example/x http:evil.example", "ramen"],
    ["ramen evil.example/x EVIL.example:8080 evil.example?q=1 evil。example/x", "ramen"],
    ["ramen //evil/x http:\\\\evil 10.0.0.1/x xn--e1a.xn--p1ai/x \"ftp:x (www.evil)", "ramen"],
    ["24/7 st.louis dr.who? 9:30 and//or 1.50/lb", "24/7 st.louis dr.who? 9:30 and//or 1.50/lb"],
    [`key svc_live_${"x".repeat(40)}`, "key"],
    ["\u202eabc\u0000", "abc"],
    ["@", ""],
    ["", ""]
  ])("%j is kept as %j", (asked, kept) => {
    expect(askedWords(asked, 80)).toBe(kept)
  })

  it("are found in a moment, whatever they are made of", () => {
    for (const part of ["1 ", "(", "+(1-", "@ ", " @", "a@", "://", "1.", "a.", "1.1.", "a-", "\u0301", "www."]) {
      const start = performance.now()
      askedWords(part.repeat(100_000), 80)
      expect(performance.now() - start, part).toBeLessThan(100)
    }
  })
})

describe("one caller", () => {
  it("counts once a day for a search, and for so many searches; the first is forgotten for want of room", () => {
    const counts = makeAskerLimit({ addresses: 2, searches: 2 })
    expect([counts("1", "a", "x"), counts("1", "a", "x"), counts("1", "a", "y"), counts("1", "a", "z")])
      .toEqual([true, false, true, false])
    expect([counts("1", "b", "x"), counts("2", "a", "x")]).toEqual([true, true])
    expect([counts("2", "b", "x"), counts("2", "c", "x"), counts("2", "b", "x"), counts("2", "a", "x")])
      .toEqual([true, true, false, true])
  })
})
