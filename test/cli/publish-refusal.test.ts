import { inOptions, refusalOf } from "#src/cli/publish-refusal.ts"
import { Option } from "effect"
import { expect, it } from "vitest"

const typed = { file: "menu.csv", business: Option.none(), project: Option.none(), mappings: {} }
const told = (error: object) =>
  Option.getOrUndefined(
    refusalOf({ isError: true, content: [{ type: "text", text: JSON.stringify({ error }) }] }, typed)
  )

it.each([
  [
    `pass mappings {"Joe's":"price"}, or {"Joe's":"ignore"}`,
    "pass --map 'Joe'\\''s=price', or --map 'Joe'\\''s=ignore'"
  ],
  [`pass mappings {"A \\"b\\"":"name","C":"price"}`, `pass --map 'A "b"=name' --map 'C=price'`],
  [`description {"a":"b"} was left out`, `description {"a":"b"} was left out`]
])("%s is told in options, where it is a mapping", (message, expected) => {
  expect(inOptions(message)).toBe(expected)
})

it("a failure after the business was made says which business and import it has", () => {
  const details = { businessId: "01B", serverId: "01S", importId: "01I" }
  expect(told({ code: "service_unavailable", message: "The database went away", details }))
    .toBe("The database went away\nBusiness   01B\nImport     01I")
})

it("an answer that is no refusal of the platform is not told here", () => {
  expect(Option.isNone(refusalOf({ content: [{ type: "text", text: "Bad gateway" }] }, typed))).toBe(true)
})
