import { isLabel } from "#src/shared/dns-label.ts"
import { slugOf } from "#src/shared/slug.ts"
import { expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"

it.each([
  ["Café Überall", "cafe-uberall"],
  ["Łódź & Søn", "lodz-son"],
  ["Борщ и Блины", "borshch-i-bliny"],
  ["Ελληνική Ταβέρνα", "elliniki-taverna"],
  ["ラーメン横丁", "ramenhengding"],
  ["北京烤鸭", "beijingkaoya"],
  ["김치찌개", "gimchijjigae"],
  ["नमस्ते", "nmste"],
  ["!!!", "business"]
])("the slug of %s is %s", (name, slug) => {
  expect(slugOf(name, "business")).toBe(slug)
})

it("a slug is a DNS label of at most 50 characters, whatever the name", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 400 }), (name) => {
    const slug = slugOf(name, "business")
    expect(isLabel(slug) && slug.length <= 50, slug).toBe(true)
  }))
})
