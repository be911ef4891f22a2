import { maskLines } from "#src/deployments/cut-lines.ts"
import { makeMask } from "#src/servers/mask.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const masked = (variables: Readonly<Record<string, string>>, ...pieces: ReadonlyArray<string>) =>
  makeMask(Object.entries(variables).map(([name, value]) => ({ name, value })))(pieces)

describe("a log's masks", () => {
  it("replace values of six characters and more by the name of their variable, wherever they stand", () => {
    expect(masked({ TOKEN: "s3cret", MODE: "debug" }, "debug s3cret,s3crets3cret")).toEqual([
      "debug [TOKEN],[TOKEN][TOKEN]"
    ])
    expect(masked({}, "as it is")).toEqual(["as it is"])
  })

  it("prefer the longest value, and leave nothing of those that overlap", () => {
    expect(masked({ SHORT: "abcdef", LONG: "abcdefgh" }, "abcdefgh abcdefg")).toEqual(["[LONG] [SHORT]g"])
    expect(masked({ ONE: "abcdef", TWO: "efghij" }, "-abcdefghij-")).toEqual(["-[ONE]-"])
    const [long, longer] = ["k".repeat(100) + "1", "k".repeat(120) + "2"]
    expect(masked({ ONE: long, TWO: longer }, `<${longer}> <${long}>`)).toEqual(["<[TWO]> <[ONE]>"])
  })

  it("take values by their lines, and as JSON writes them", () => {
    const key = "-----BEGIN KEY-----\r\n  MIIabcdef\nshort\nMIIghijkl\n"
    expect(masked({ KEY: key }, "x MIIabcdef y", "short MIIghijkl")).toEqual(["x [KEY] y", "short [KEY]"])
    expect(masked({ QUOTED: "say \"hello\"" }, JSON.stringify({ it: "say \"hello\"" }))).toEqual([`{"it":"[QUOTED]"}`])
  })

  it("hide a value that begins in one piece and ends in a later one", () => {
    expect(masked({ TOKEN: "0123456789" }, "a0123", "45", "6789b")).toEqual(["a[TOKEN]", "", "b"])
  })

  it("hide the beginning of a long value that was cut off", () => {
    const value = "v".repeat(30) + "wxyz".repeat(10)
    expect(masked({ TOKEN: value }, `${value.slice(0, 50)}…`)).toEqual(["[TOKEN]…"])
  })

  it("leave no value in any text, whatever the values and the cuts are", () => {
    const letters = (min: number, max: number) => FastCheck.stringMatching(new RegExp(`^[ab]{${min},${max}}$`))
    FastCheck.assert(FastCheck.property(
      FastCheck.array(letters(6, 40), { minLength: 1, maxLength: 5 }),
      FastCheck.array(FastCheck.oneof(letters(0, 9), FastCheck.constant("-")), { maxLength: 8 }),
      FastCheck.nat(),
      (values, rest, at) => {
        const text = rest.join("") + values.join("-") + rest.join("")
        const cut = at % (text.length + 1)
        const hidden = values.map((value, i) => ({ name: `V${i}`, value }))
        const out = makeMask(hidden)([text.slice(0, cut), text.slice(cut)]).join("")
        for (const value of values) expect(out).not.toContain(value)
      }
    ))
  })

  it("find hostile values in a hostile line without delay", () => {
    const values = Array.from({ length: 5_000 }, (_, i) => `${"a".repeat(i % 700)}${i}bbbbbb`)
    const mask = makeMask(values.map((value) => ({ name: "A", value })))
    const started = performance.now()
    for (let i = 0; i < 6; i++) mask(["a".repeat(16_384)])
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  it("follow each stream of a machine's output through lines that were cut", () => {
    const mask = makeMask([{ name: "TOKEN", value: "0123456789" }])
    const line = (text: string, stream: "stdout" | "stderr" = "stdout", isCut = false) => ({
      offset: 0,
      stream,
      text,
      ...(isCut ? { isCut: true as const } : {})
    })
    const lines = [line("a01234", "stdout", true), line("01234", "stderr"), line("56789b"), line("56789")]
    const texts = (found: ReadonlyArray<{ readonly text: string }>) => found.map(({ text }) => text)
    expect(texts(maskLines(mask, [], lines))).toEqual(["a[TOKEN]", "01234", "b", "56789"])
    expect(texts(maskLines(mask, lines.slice(0, 1), lines.slice(1)))).toEqual(["01234", "b", "56789"])
  })
})
