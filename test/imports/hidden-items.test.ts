import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { messagesOf, readFile } from "./support/read-file.ts"

const read = (items: ReadonlyArray<object>, mappings: Mappings = {}) =>
  Either.getOrThrow(readFile("a.json", JSON.stringify(items), mappings))
const shown = ({ plan }: ReturnType<typeof read>) => plan.items.map(({ isAvailable = true }) => isAvailable)

describe("an item of a JSON file that is marked as a draft or hidden", () => {
  it.each([
    [{ published: false }, { published: true }, "published \"false\""],
    [{ visible: "no" }, { visible: "yes" }, "visible \"no\""],
    [{ hidden: true }, { hidden: false }, "hidden \"true\""],
    [{ isHidden: 1 }, { isHidden: 0 }, "isHidden \"1\""],
    [{ active: 0 }, { active: 1 }, "active \"0\""],
    [{ status: "draft" }, { status: "active" }, "status \"draft\""],
    [{ is_available: false }, { is_available: true }, "is_available \"false\""],
    [{ is_published: false }, { is_published: null }, "is_published \"false\""],
    [{ disabled: true }, { disabled: {} }, "disabled \"true\""],
    [{ "Available for sale [My Shop]": "N" }, {}, "Available for sale [My Shop] \"N\""]
  ])("is imported as not available, as a row is: %j and not %j", (hides, shows, says) => {
    const reading = read([{ name: "Soup", price: 5, ...hides }, { name: "Tea", price: 3, ...shows }])
    expect(shown(reading)).toEqual([false, true])
    expect(messagesOf(reading)).toEqual([
      `catalog_items[0] is a draft or hidden (${says}): imported as not available. Map that column to ignore to import ` +
      "them as available"
    ])
    expect(reading.unmapped).toEqual([])
    expect(reading.mappings.at(-1)).toMatchObject({ target_field: "is_available" })
  })

  it("is told in one line with the others, and shown where its key is mapped to ignore", () => {
    const items = Array.from({ length: 5 }, (_, at) => ({ name: `Soup ${at}`, price: 5, published: at === 1 }))
    expect(messagesOf(read(items))).toEqual([
      "catalog_items[0], catalog_items[2], catalog_items[3] and 1 more are drafts or hidden (published \"false\"): imported " +
      "as not available. Map that column to ignore to import them as available"
    ])
    const ignored = read(items, { published: "ignore" })
    expect(shown(ignored)).toEqual([true, true, true, true, true])
    expect(messagesOf(ignored)).toEqual([])
  })
})
