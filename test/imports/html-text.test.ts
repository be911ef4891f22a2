import { isHtml, textOfHtml } from "#src/imports/html-text.ts"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { messagesOf, readCsv } from "./support/read-file.ts"

describe("HTML of an export", () => {
  it.each([
    ["<p>Hot &amp; <b>spicy</b></p>", "Hot & spicy"],
    ["<p>One</p>\n<p>Two<br/>Three</p>", "One\nTwo\nThree"],
    ["<ul><li>Eggs</li><li> Milk </li></ul>", "- Eggs\n- Milk"],
    ["<div class=\"x\">A<script>alert(1)</script><style>p{}</style>B</div>", "AB"],
    ["<table><tr><td>Size</td><td>M</td></tr></table>", "Size M"],
    ["<p>1 < 2</p>", "1 < 2"],
    ["<p>", ""]
  ])("%s is %s", (html, text) => {
    expect([isHtml(html), textOfHtml(html)]).toEqual([true, text])
  })

  it.each(["<b>x</b>", "1 < 2", "a <p> b", "<3", "", "<prix>"])("%s is no HTML", (text) => {
    expect(isHtml(text)).toBe(false)
  })

  it("of any kind and size is read at once", () => {
    const started = performance.now()
    for (const piece of ["<p>", "<p>a", "<div><script>", "<br>", "&amp;", "<", "</p>", "<p "]) {
      expect(textOfHtml(`<p>${piece.repeat(20_000)}`).length).toBeLessThan(200_000)
    }
    fc.assert(fc.property(fc.string(), (text) => {
      expect(textOfHtml(`<p>${text}`)).not.toMatch(/<p>/)
    }))
    expect(performance.now() - started).toBeLessThan(3000)
  })

  it("is told once, by the first row with it", () => {
    const reading = readCsv("name,description\nA,<p>Warm</p>\nB,<p>Cold</p>\n")
    expect(reading.plan.items.map(({ description }) => description)).toEqual(["Warm", "Cold"])
    expect(messagesOf(reading)).toEqual([
      "row 2: description \"<p>Warm</p>\" is HTML: its text was imported without tags, as in other rows"
    ])
  })
})

it("a draft or hidden item is imported as not available, and told", () => {
  const reading = readCsv(
    "name,Status,Published,Hidden\nA,draft,1,No\nB,active,0,No\nC,active,TRUE,yes\nD,Active,1,no\n"
  )
  expect(reading.plan.items.map(({ isAvailable = true }) => isAvailable)).toEqual([false, false, false, true])
  expect(messagesOf(reading)).toEqual([
    "rows 2, 3 and 4 are drafts or hidden (Status \"draft\", Published \"0\", Hidden \"yes\"): imported as not available. " +
    "Map that column to ignore to import them as available"
  ])
})
