import { parseUrl } from "#src/format/parse-url.ts"
import { expect, it } from "vitest"

it("an address with accents stays one however often addresses were read before", () => {
  const refused = Array.from(
    { length: 50_000 },
    (_, at) => parseUrl(at % 2 ? "https://b.example/" : "https://bücher.example/menü")
  )
    .filter((url) => url === undefined)
  expect(refused).toEqual([])
})

it("a relative address is read from its base, and what is no address is undefined", () => {
  expect(parseUrl("../b", "https://a.example/x/y")?.href).toBe("https://a.example/b")
  expect(parseUrl("../b")).toBeUndefined()
  expect(parseUrl("https://a.example:99999")).toBeUndefined()
})
