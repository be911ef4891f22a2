import { csvRows, type Delimiter } from "#src/imports/csv-rows.ts"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { itLong } from "../support/needs.ts"

const rowsOf = (text: string | Buffer, delimiter: Delimiter = ",") =>
  [...csvRows(Buffer.from(text), delimiter)].flatMap(({ rows }) => rows)

const cellsOf = (text: string | Buffer, delimiter: Delimiter = ",") =>
  rowsOf(text, delimiter).map((row) => "cells" in row ? row.cells : row.broken)

const spectrum = dirname(createRequire(import.meta.url).resolve("csv-spectrum"))

describe("csv-spectrum", () => {
  const names = readdirSync(join(spectrum, "csvs")).map((file) => file.replace(/\.csv$/, ""))

  it("has its twelve files", () => {
    expect(names.length).toBe(12)
  })

  it.each(names)("%s reads as it should", (name) => {
    const [header = [], ...rows] = cellsOf(readFileSync(join(spectrum, "csvs", `${name}.csv`)))
    // Of one file the corpus has the row without a list around it, and another telephone number than in the CSV.
    const told = readFileSync(join(spectrum, "json", `${name}.json`), "utf8").replace("1234567890", "2095257564")
    const expected = [JSON.parse(told) as unknown].flat()
    expect(rows.map((cells) => Object.fromEntries([...header].map((column, at) => [column, cells[at]])))).toEqual(
      expected
    )
  })
})

const quoted = (cell: string) => `"${cell.replaceAll("\"", "\"\"")}"`

describe("the rows of a CSV file", () => {
  it("are those that were written, whatever is in their cells", () => {
    const cell = fc.oneof(fc.string(), fc.stringMatching(/^[",;\t\r\n a]{0,8}$/), fc.string({ unit: "grapheme" }))
    const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 20 })
    const ending = fc.constantFrom("\n", "\r\n", "\r")
    fc.assert(
      fc.property(table, ending, fc.constantFrom<Delimiter>(",", ";", "\t"), (rows, end, delimiter) => {
        const text = rows.map((cells) => cells.map(quoted).join(delimiter)).join(end)
        expect(cellsOf(text, delimiter)).toEqual(rows)
        expect(cellsOf(text + end, delimiter)).toEqual(rows)
      }),
      { numRuns: 500 }
    )
  })

  it("of a big file are all there, across the pieces it is read in", () => {
    const rows = Array.from({ length: 30_000 }, (_, at) => [`name ${at}`, "x".repeat(at % 40), `two\r\nlines, "${at}"`])
    const text = rows.map((cells) => cells.map(quoted).join(",")).join("\r\n")
    expect(text.length).toBeGreaterThan(1_000_000)
    expect(cellsOf(text)).toEqual(rows)
  })

  it("are numbered as a spreadsheet does, blank ones and those over several lines counted", () => {
    expect(rowsOf("a\n\n\"b\nc\"\nd").map(({ number }) => number)).toEqual([1, 2, 3, 4])
  })

  it("lose one and no other to a quote that does not end", () => {
    const filler = Array.from({ length: 20_000 }, (_, at) => `item ${at},5.00`)
    const rows = rowsOf(["name,price", "good,1", "\"open,2", ...filler].join("\n"))
    expect(rows.length).toBe(20_003)
    expect(rows.filter((row) => "broken" in row)).toEqual([{ number: 3, broken: expect.stringMatching(/quote/) }])
    expect(cellsOf("name\ngood\n\"open\nlast")).toEqual([["name"], ["good"], expect.stringMatching(/quote/), ["last"]])
  })

  itLong("come to an end soon when every line has such a quote", () => {
    const started = performance.now()
    const rows = rowsOf(`name\n${"\"a,\n".repeat(500_000)}`)
    expect(rows.length).toBeLessThan(600_000)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it.each([
    ["a quote inside", "6\" pan,1", [["6\" pan", "1"]]],
    ["text after a quote", "\"a\"b,1", [["\"a\"b", "1"]]],
    ["ragged", "a,b\nc\nd,e,f", [["a", "b"], ["c"], ["d", "e", "f"]]],
    ["mixed line ends", "a\nb\r\nc\rd", [["a"], ["b"], ["c"], ["d"]]],
    ["nothing", "", []]
  ])("are read with %s", (_, text, expected) => {
    expect(cellsOf(text)).toEqual(expected)
  })
})
