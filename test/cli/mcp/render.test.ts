import { outline, printable, renderResult, table } from "#src/cli/mcp/render.ts"
import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"

it("columns are as wide as their widest cell", () => {
  expect(table(["A", "LONG"], [["aaa", "b"], ["c", "d"]])).toBe("A    LONG\naaa  b\nc    d")
  const wide = [["menu", "http://localhost:8787/s/copper-ladle"], ["a".repeat(30), "x"]]
  const cut = table(["SERVER", "URL"], wide, 30).split("\n")
  expect(cut).toEqual([
    "SERVER          URL",
    "menu            http://localh…",
    "aaaaaaaaaaaaa…  x"
  ])
  // A terminal that is too narrow for anything gets what it can.
  expect(Math.max(...table(["SERVER", "URL"], wide, 5).split("\n").map(({ length }) => length))).toBe(18)
})

it("lists of flat objects are tables, the rest is indented", () => {
  expect(outline({ name: "x", tags: ["a", "b"], rows: [{ id: 1, on: true }, { id: 2 }], none: [], deep: { a: null } }))
    .toBe("name: x\ntags: a, b\nrows:\n  id  on\n  1   true\n  2   -\nnone: (none)\ndeep:\n  a: -")
})

it("one column of long texts comes last, rows with several are outlines, and nothing is cut", () => {
  const message = `to allow it: ${"x".repeat(100)}`
  expect(outline([{ message, id: 1 }, { message: "short", id: 2 }])).toBe(`id  message\n1   ${message}\n2   short`)
  expect(outline([{ message, id: message }, { message: "short", id: null }]))
    .toBe(`message: ${message}\nid: ${message}\n\nmessage: short\nid: -`)
})

it("a text of several lines keeps them, below its name", () => {
  expect(outline({ markdown: "# Ladle\n\nid: x\u001b[2J\n- soup\n", id: "y" }))
    .toBe("markdown:\n  # Ladle\n\n  id: x[2J\n  - soup\nid: y")
  expect(outline({ name: "one line\n" })).toBe("name: one line")
})

it("any JSON can be outlined, and none of it reaches the terminal as control characters", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    expect(outline(value)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
  }))
  expect(printable("a\u001b[31mb\tc\n")).toBe("a[31mb\tc\n")
})

it("structured content is printed where there is some, since the text may be a summary; else blocks by their kind", () => {
  const text = (text: string) => ({ type: "text" as const, text })
  expect(renderResult({ content: [text("{\"a\":1}")], structuredContent: { a: 1 } })).toBe("a: 1")
  expect(renderResult({ content: [text("One a.")], structuredContent: { a: 1 } })).toBe("a: 1")
  expect(renderResult({ content: [text("One a.")] })).toBe("One a.")
  expect(renderResult({ content: [text("x"), { type: "image", data: "AA==", mimeType: "image/png" }] }))
    .toBe("x\n\n[image image/png]")
})
