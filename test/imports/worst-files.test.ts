import { makeFileReader } from "#src/imports/file-reader.ts"
import { expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { describeLong } from "../support/needs.ts"

const size = 10 * 1024 * 1024
const fill = (text: string) => Buffer.from(text.repeat(Math.floor(size / text.length)))
const csv = (text: string) => Buffer.concat([Buffer.from("name,price,description\n"), fill(text)])
const json = (text: string) =>
  Buffer.concat([
    Buffer.from("{\"version\":\"1.0\",\"business\":{\"name\":\"a\",\"description\":\"b\"},\"catalog_items\":["),
    fill(text),
    Buffer.from("1]}")
  ])

/** Made when asked for: together they are 200 MB. */
const files: Readonly<Record<string, () => Buffer>> = {
  "good rows.csv": () => csv("Item,5.00,\"a description, with some words\"\n"),
  "bad rows.csv": () => csv(",5.00,\"a description, with some words\"\n"),
  "tiny rows.csv": () => csv("a\n"),
  "a row of ten million cells.csv": () => csv(","),
  "rows of five thousand cells.csv": () => csv(`${",".repeat(5000)}\n`),
  "quotes.csv": () => csv("\""),
  "open quotes.csv": () => csv("\"a\n\n\n"),
  "windows-1252.csv": () => Buffer.from(csv("Caf\u00e9,5\n").toString("utf8"), "latin1"),
  "HTML.csv": () => csv("Item,5.00,<p>Warm<br>bread &amp; <b>butter</b></p>\n"),
  "one cell of HTML after another.csv": () => csv(`Item,5.00,${"<p>".repeat(20_000)}\n`),
  "text after quotes.csv": () => csv("\"Soup\" of the day,5.00,x\n"),
  "spaces in a price.csv": () => csv(`a,1${" ".repeat(60_000)}x,y\n`),
  "no-break spaces in a price.csv": () => csv(`a,1${"\u00a0".repeat(30_000)}x,y\n`),
  "digits in a price.csv": () => csv(`a,${"1 234,".repeat(10_000).replaceAll(",", "'")},y\n`),
  "dollars in a price.csv": () => csv(`a,${"$ USD ".repeat(10_000)},y\n`),
  "Shift_JIS.csv": () => Buffer.from(csv("\u0083\u0089\u0081[\u0083\u0081\u0083\u0093,5\n").toString("utf8"), "latin1"),
  "stray bytes.csv": () => Buffer.concat([csv("Crème brûlée,5,x\n"), Buffer.of(0xf1)]),
  "UTF-16.csv": () => Buffer.from(`\ufeff${csv("Café,5\n").toString("utf8").slice(0, size / 2)}`, "utf16le"),
  "good items.json": () => json("{\"name\":\"Soup\",\"price\":8.99},"),
  "numbers.json": () => json("1,"),
  "nested lists.json": () => json("[[],[[]]],"),
  "one item of lists.json": () =>
    Buffer.concat([Buffer.from("{\"catalog_items\":[["), fill("[],"), Buffer.from("1]]}")]),
  "one text.json": () => Buffer.from(`{"a":"${"x".repeat(size - 10)}"}`),
  "keys.json": () => Buffer.from(`{${fill("\"abc\":1,").toString()}"version":"1.0"}`),
  "nothing but lines.csv": () => csv("\n"),
  "brackets.json": () => fill("["),
  "spaces.json": () => fill(" ")
}

describeLong("a file of ten megabytes", () => {
  it.scopedLive.each(Object.entries(files))(
    "of %s is read, or refused for what is in it",
    ([filename, make]) =>
      Effect.gen(function*() {
        const read = yield* makeFileReader()
        const answer = yield* Effect.either(read({ filename, bytes: make() }))
        expect(Either.isLeft(answer) ? String(answer.left) : "").not.toMatch(/to read than|could not be read/)
      }),
    60_000
  )
})
