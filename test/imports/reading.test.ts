import { formatOf, type Warning } from "#src/imports/Import.ts"
import { type Reading } from "#src/imports/plan.ts"
import { templates } from "#src/imports/templates.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { faultOf, readCsv as csv, readFile, readJson as json } from "./support/read-file.ts"

const root = (catalog_items: unknown, business: object = {}) => ({
  version: "1.0",
  business: { name: "Ladle", description: "A kitchen", ...business },
  catalog_items
})

const told = ({ warnings }: Reading) => warnings.map(({ context, type }) => [type, context])
const names = ({ plan }: Reading) => plan.items.map(({ name }) => name)

describe("a CSV file", () => {
  it.each<[string, Buffer, Reading["encoding"]]>([
    ["UTF-8", Buffer.from("name,price\nCafé,1\n"), "utf-8"],
    ["UTF-8 with a mark", Buffer.from("\ufeffname,price\nCafé,1\n"), "utf-8"],
    ["UTF-16 little-endian with a mark", Buffer.from("\ufeffname,price\nCafé,1\n", "utf16le"), "utf-16le"],
    ["UTF-16 big-endian with a mark", Buffer.from("\ufeffname,price\nCafé,1\n", "utf16le").swap16(), "utf-16be"],
    ["UTF-16 little-endian without a mark", Buffer.from("name,price\nCafé,1\n", "utf16le"), "utf-16le"],
    ["UTF-16 big-endian without a mark", Buffer.from("name,price\nCafé,1\n", "utf16le").swap16(), "utf-16be"],
    ["windows-1252", Buffer.from("name,price\nCaf\u00e9,1\n", "latin1"), "windows-1252"]
  ])("in %s is read in it", (_, bytes, encoding) => {
    const reading = csv(bytes)
    expect([names(reading), reading.encoding]).toEqual([["Café"], encoding])
  })

  it("of windows-1252 has its quotation marks and euro sign", () => {
    expect(names(csv(Buffer.from([...Buffer.from("name\n"), 0x93, 0x80, 0x94])))).toEqual(["“€”"])
  })

  it.each([[",", "$1,234.50", 123_450], [";", "8,99", 899], ["\t", "8.99", 899]])(
    "finds the delimiter %j by itself",
    (delimiter, price, cents) => {
      const reading = csv(`name${delimiter}price${delimiter}note, or; so\nSoup${delimiter}"${price}"${delimiter}x\n`)
      expect([reading.delimiter, reading.plan.items[0]?.priceCents]).toEqual([delimiter, cents])
    }
  )

  it("may say its delimiter as spreadsheets do", () => {
    expect(csv("sep=;\r\nname;price\r\nSoup;8,99\r\n")).toMatchObject({
      delimiter: ";",
      plan: { items: [{ priceCents: 899 }] }
    })
  })

  it("has its columns in any case, spacing and order, and keeps the first of two of one name", () => {
    const reading = csv("Colour, PRICE ,Item Type,Price-Type, Name ,name\nred,5,Menu Item,Starting at,Soup,Stew\n")
    expect(reading.plan.items).toMatchObject([
      { name: "Soup", priceCents: 500, itemType: "menu_item", priceType: "starting_at" }
    ])
    expect(reading.unmapped).toEqual(["Colour", "name"])
    expect(told(reading)).toEqual([["field_skipped", "row 1, column 6"]])
    expect(reading.mappings).toEqual(expect.arrayContaining([
      { source_field: "PRICE", target_field: "price", sample_value: "5" },
      { source_field: "Name", target_field: "name", sample_value: "Soup" }
    ]))
  })

  it("has defaults where a column or a cell is not there", () => {
    expect(csv("name,price\nSoup\nTea,\n").plan.items).toEqual(["Soup", "Tea"].map((name) => ({
      name,
      description: "",
      itemType: "product",
      priceCents: null,
      priceType: "fixed",
      category: null
    })))
  })

  it("skips rows without a name and rows with more cells than the header, and tells where", () => {
    const reading = csv("name,price\n,5\n\n,,\nSoup,8,99\n\"Two\nlines\",1,,\n")
    expect([names(reading), reading.rows]).toEqual([["Two lines"], 3])
    expect(told(reading)).toEqual([["format_error", "row 2"], ["format_error", "row 5"]])
  })

  it("tells of each value that can't be used, by row and column", () => {
    const reading = csv(
      `name,price,price_type,item_type,category,description\nA,abc,free,robot,${"c".repeat(256)},${
        "d".repeat(5001)
      }\n` +
        `${"n".repeat(256)}\nB,-1\nC,€5\n`
    )
    expect(names(reading)).toEqual(["A", "B", "C"])
    expect(reading.plan.items[0]).toEqual({
      name: "A",
      description: "",
      priceCents: null,
      priceType: "fixed",
      itemType: "product",
      category: null
    })
    expect(told(reading).sort()).toEqual([
      ["field_skipped", "row 2, column category"],
      ["field_skipped", "row 2, column description"],
      ["field_skipped", "row 2, column price"],
      ["field_skipped", "row 4, column price"],
      ["field_skipped", "row 5, column price"],
      ["format_error", "row 3, column name"],
      ["value_coerced", "row 2, column item_type"],
      ["value_coerced", "row 2, column price_type"]
    ])
  })

  it("keeps formulas, markup and any writing to the letter", () => {
    const texts = ["=1+1", "+1", "-1", "@SUM(A1)", "<b>x</b>", "مرحبا", "👩‍👩‍👧‍👦", "O'Neil \"\"the\"\" 2nd"]
    const reading = csv(`name,description\n${texts.map((text) => `"${text}","${text}"`).join("\n")}\n`)
    expect(names(reading)).toEqual(texts.map((text) => text.replaceAll("\"\"", "\"")))
    expect(reading.warnings).toEqual([])
  })

  it("loses control characters, with a warning, and a name that is nothing else", () => {
    const reading = csv("name,description\nSo\u0000up,a\u0007b\n\u0000\u0001,x\n")
    expect(reading.plan.items).toMatchObject([{ name: "Soup", description: "ab" }])
    expect(told(reading)).toEqual([
      ["value_coerced", "row 2, column name"],
      ["value_coerced", "row 2, column description"],
      ["format_error", "row 3"]
    ])
  })

  it("gives its first 1,000 items, says so once, and counts the rest", () => {
    const rows = Array.from({ length: 1000 }, (_, at) => `Item ${at}`).join("\n")
    expect(csv(`name\n${rows}\n`)).toMatchObject({ rows: 1000, warnings: [] })
    const reading = csv(`name\n\n${rows}\n"Over\nlines"\n\nLast\n`)
    expect([reading.plan.items.length, reading.rows, told(reading)]).toEqual([1000, 1002, [[
      "limit_truncated",
      "file"
    ]]])
    const many = csv(`name\n${rows}\n${"more\n".repeat(500_000)}`)
    expect([many.plan.items.length, many.rows, told(many)]).toEqual([1000, 501_000, [["limit_truncated", "file"]]])
  })

  it("of nothing but bad rows is told by its first thousand warnings, and as having none that can be imported", () => {
    const reading = csv(`name,price\n${",1\n".repeat(5000)}Soup,1\n`)
    expect([reading.warnings.length, reading.warningsTotal, names(reading)]).toEqual([1000, 5000, ["Soup"]])
    expect(faultOf("a.csv", `name,price\n${",1\n".repeat(100)}`)).toMatchObject({ path: "file" })
  })

  it.each([
    ["empty", ""],
    ["of a mark only", "\ufeff"],
    ["of blanks", "\n\n \n"],
    ["without a column name", "title,price\nSoup,5\n"],
    ["without rows", "name,price\n"],
    ["of one long line", "x".repeat(1_000_000)],
    ["of a million columns", `name${",".repeat(1_000_000)}\nSoup\n`],
    ["of quotes", "\"".repeat(1_000_001)],
    ["that is an image", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")]
  ])("%s is refused", (_, content) => {
    expect(faultOf("a.csv", content)).toMatchObject({ path: "file", message: expect.any(String) })
  })
})

describe("a JSON file", () => {
  it("gives items with their defaults, and the profile that it names", () => {
    const reading = json(root([{ name: " Soup ", price: 8.99, category: "Starters", color: "red" }, { name: "Tea" }], {
      vertical: "Home Services",
      website: "https://a.example.com",
      phone: "+1 555",
      location: { city: "Millbrook", state: "IL", zip: "60601", planet: "Earth" },
      custom_fields: { parking: "yes", seats: 40, terrace: true },
      other: 1
    }))
    expect(reading.plan).toEqual({
      business: {
        name: "Ladle",
        description: "A kitchen",
        industry: "Home Services",
        templateType: "home_services",
        website: "https://a.example.com",
        phone: "+1 555",
        city: "Millbrook",
        state: "IL",
        zip: "60601",
        customFields: { parking: "yes", seats: "40", terrace: "true" }
      },
      items: [
        {
          name: "Soup",
          description: "",
          itemType: "product",
          priceCents: 899,
          priceType: "fixed",
          category: "Starters"
        },
        { name: "Tea", description: "", itemType: "product", priceCents: null, priceType: "fixed", category: null }
      ]
    })
    expect(reading.delimiter).toBe(null)
    expect(told(reading)).toEqual([...reading.unmapped].map((name) => ["field_skipped", name]))
    expect([...reading.unmapped].sort()).toEqual([
      "business.location.planet",
      "business.other",
      "catalog_items[].color"
    ])
    expect(reading.mappings).toEqual(expect.arrayContaining([
      { source_field: "business.vertical", target_field: "business.industry", sample_value: "Home Services" },
      { source_field: "catalog_items[].price", target_field: "price", sample_value: "8.99" }
    ]))
  })

  it("leaves out what it does not name, and sets no template type that is none", () => {
    expect(json(root([], { vertical: "Bakery" })).plan.business).toEqual({
      name: "Ladle",
      description: "A kitchen",
      industry: "Bakery"
    })
  })

  it("tells of each value that can't be used, by its place", () => {
    const reading = json(root([
      { name: "A", price: "8.99", price_type: "free", item_type: 5, category: 7, description: ["x"] },
      { name: "B", price: -1 },
      "text",
      { name: "" },
      { name: 5 },
      { price: 1 },
      null,
      [],
      { name: "C", price: null, category: null, description: null, item_type: null, price_type: null },
      { name: "big", description: "x".repeat(70_000) }
    ], { website: "http://a.example.com", phone: 5, vertical: "v".repeat(256), location: "here", custom_fields: [] }))
    expect(names(reading)).toEqual(["A", "B", "C"])
    expect([reading.rows, reading.warningsTotal]).toEqual([10, 18])
    const kinds: ReadonlyArray<[Warning["type"], ReadonlyArray<string>]> = [
      ["value_coerced", ["catalog_items[0].price_type", "catalog_items[0].item_type"]],
      ["field_skipped", [
        ...["price", "category", "description"].map((field) => `catalog_items[0].${field}`),
        "catalog_items[1].price",
        ...["website", "phone", "vertical", "location", "custom_fields"].map((field) => `business.${field}`)
      ]],
      ["format_error", [2, 3, 4, 5, 6, 7, 9].map((at) => `catalog_items[${at}]`)]
    ]
    expect(told(reading).sort()).toEqual(kinds.flatMap(([type, places]) => places.map((place) => [type, place])).sort())
  })

  it("has at most 1,000 items and 20 fields of its own, the first of them", () => {
    const items = Array.from({ length: 1005 }, (_, at) => ({ name: `Item ${at}` }))
    const custom_fields = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`field ${at}`, `${at}`]))
    const reading = json(root(items, { custom_fields }))
    expect([reading.plan.items.length, reading.rows]).toEqual([1000, 1005])
    expect(Object.keys(reading.plan.business?.customFields ?? {}).length).toBe(20)
    expect(told(reading)).toEqual([["limit_truncated", "catalog_items"], ["limit_truncated", "business.custom_fields"]])
    expect(json(root(items.slice(0, 1000))).warnings).toEqual([])
  })

  it("has no field of another object's, and no broken text", () => {
    const text =
      `{"version":"1.0","business":{"name":"Ladle","description":"d","custom_fields":{"__proto__":"x","":"y","a":"\\ud800"}},` +
      `"catalog_items":[{"__proto__":{"name":"inherited"}},{"name":"a\\u0000b\\udfff","constructor":1}]}`
    const reading = Either.getOrThrow(readFile("a.json", text))
    expect(names(reading)).toEqual(["ab\ufffd"])
    expect(reading.plan.business?.customFields).toEqual({ a: "\ufffd" })
  })

  it("may be in UTF-16 or have a mark", () => {
    for (const encoding of ["utf8", "utf16le"] as const) {
      const bytes = Buffer.from(`\ufeff${JSON.stringify(root([{ name: "Café" }]))}`, encoding)
      expect(names(Either.getOrThrow(readFile("A.JSON", bytes)))).toEqual(["Café"])
    }
  })

  it.each<[string, string, string]>([
    ["file", "no JSON", "{"],
    ["file", "an array", "[]"],
    ["file", "a text", "\"x\""],
    ["file", "nothing", ""],
    ["file", "too deep", `{"a":${"[".repeat(200)}${"]".repeat(200)}}`],
    ["file", "two businesses", "{\"business\":{},\"business\":{}}"],
    ["version", "no version", "{\"business\":{\"name\":\"a\",\"description\":\"b\"}}"],
    ["version", "version 2.0", JSON.stringify({ ...root([]), version: "2.0" })],
    ["version", "a number as its version", JSON.stringify({ ...root([]), version: 1 })],
    ["business", "no business", "{\"version\":\"1.0\"}"],
    ["business", "a list of businesses", "{\"version\":\"1.0\",\"business\":[]}"],
    ["business", "null", "{\"version\":\"1.0\",\"business\":null}"],
    ["business.name", "no name", JSON.stringify({ version: "1.0", business: { description: "x" } })],
    ["business.name", "a blank name", JSON.stringify(root([], { name: " \u0000 " }))],
    ["business.name", "a long name", JSON.stringify(root([], { name: "x".repeat(256) }))],
    ["business.description", "no description", JSON.stringify({ version: "1.0", business: { name: "x" } })],
    ["business.description", "a number as its description", JSON.stringify(root([], { description: 1 }))]
  ])("is refused at %s when it has %s", (path, _, content) => {
    expect(faultOf("a.json", content)).toEqual({ path, message: expect.any(String) })
  })

  it("without a list of items is its profile alone", () => {
    const { catalog_items: _, ...bare } = root([])
    expect(json(bare)).toMatchObject({ plan: { items: [] }, warnings: [] })
    expect(told(json(root({ a: 1 })))).toEqual([["format_error", "catalog_items"]])
  })
})

describe("a warning's message", () => {
  const messages = ({ warnings }: Reading) => warnings.map(({ message }) => message)

  it("names the row, the column and the item, so that it can be read alone", () => {
    const file = "name,price,item_type,category,price\n" +
      "Soup,eight,dish,Hot\u0007,\nBread,1,product,,,,x\n,2,product,,\n" +
      `${"n".repeat(256)},1,product,,\nStew,1,product,${"c".repeat(256)},\n`
    expect(messages(csv(file))).toEqual([
      "row 1, column 5 is a second column price; skipped",
      "row 2, \"Soup\": item_type \"dish\" is not one of menu_item, service, product, consultation; product was used",
      "row 2, \"Soup\": price \"eight\" is not a price in dollars; skipped",
      "row 2, \"Soup\": category \"Hot\" had characters that can't be stored; they were removed",
      "row 3 has 7 cells where the header has 5; skipped: Bread,1,product,,,,x. " +
      "Put a text with \",\" in it in double quotes, such as \"salt, pepper\"",
      "row 4 has no name; skipped: \"2, product\"",
      `row 5 has a name longer than 255 characters, "${"n".repeat(99)}…"; the item was skipped`,
      `row 6, "Stew": category "${"c".repeat(99)}…" is longer than 255 characters; skipped`
    ])
  })

  it("names the item of a JSON file by its place and name, and the business's fields by their own", () => {
    const items = [{ name: "Soup", price: "8" }, "text", {}, { name: "Bread", item_type: "x" }]
    expect(messages(json(root(items, { website: "http://ladle.example", location: 1 })))).toEqual([
      "catalog_items[0], \"Soup\": price \"8\" is not a number of dollars; skipped",
      "catalog_items[1] is not an object but \"text\"; skipped",
      "catalog_items[2] has no name; skipped",
      "catalog_items[3], \"Bread\": item_type \"x\" is not one of menu_item, service, product, consultation; " +
      "product was used",
      "business.website \"http://ladle.example\" must be a URL that starts with https://; skipped",
      "business.location is not an object; skipped"
    ])
  })

  it("skips a website that a profile could not have either, and says why", () => {
    for (const website of ["javascript:x", "https://a@b.com/", "https://b.com/<script>", "https://b.com/a b"]) {
      const reading = json(root([{ name: "Soup" }], { website }))
      expect(reading.plan.business).not.toHaveProperty("website")
      expect(reading.warnings).toMatchObject([{
        type: "field_skipped",
        message: expect.stringMatching(/^business\.website ".*" must /)
      }])
    }
  })

  it("names the whole where it is of the whole", () => {
    expect(messages(csv(`name\n${Array.from({ length: 1001 }, (_, at) => `Soup ${at}`).join("\n")}`)))
      .toEqual(["file has more than 1000 items; the 1 after those were dropped"])
  })
})

describe("a file's name", () => {
  it.each(["menu.csv", "MENU.CSV", " menu.json ", "a.b.json", "C:\\menu.csv"])("%s is taken", (name) => {
    expect(formatOf(name)).toBeDefined()
  })
  it.each(["menu", "menu.txt", "menu.csv.exe", ".csvx", "", "menu.xlsx", "csv", "menu.csv\u0000.exe"])(
    "%j is not",
    (name) => {
      expect(formatOf(name)).toBeUndefined()
    }
  )
})

describe("the templates", () => {
  it.each(Object.entries(templates))("%s imports without a warning or a column left over", (_, text) => {
    const reading = csv(text)
    expect([reading.warnings, reading.unmapped, reading.plan.items.length > 2]).toEqual([[], [], true])
  })

  it("of restaurants and shops leave out price_type", () => {
    const header = (name: string) => templates[name]?.split("\r\n")[0]
    expect([header("restaurant_menu"), header("retail_inventory")].some((line) => line?.includes("price_type"))).toBe(
      false
    )
    expect([header("generic_catalog"), header("services_catalog")].every((line) => line?.includes("price_type"))).toBe(
      true
    )
  })
})
