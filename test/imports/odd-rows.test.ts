import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { faultOf, messagesOf, namesOf, readCsv, readFile, readJson } from "./support/read-file.ts"

describe("quotes with spaces around them", () => {
  it("are no part of the text", () => {
    const reading = readCsv("name, description, price\n\"Soup\" , \"Hot, spicy\" ,5\n\"Tea\"\t,\"x\",  6\n")
    expect(reading.plan.items).toMatchObject([
      { name: "Soup", description: "Hot, spicy", priceCents: 500 },
      { name: "Tea", priceCents: 600 }
    ])
    expect(reading.warnings).toEqual([])
  })

  it("stay where text follows them, and cost no other row its own", () => {
    const rows = Array.from({ length: 300 }, (_, at) => `"Big ${at}" burger,5\n"Soup ${at}" ,4\n`).join("")
    const names = namesOf(readCsv(`name,price\n${rows}`))
    expect(names.slice(0, 4)).toEqual(["\"Big 0\" burger", "Soup 0", "\"Big 1\" burger", "Soup 1"])
    expect(names.length).toBe(600)
  })
})

describe("a file of which no row can be imported", () => {
  it("says why, by the first rows", () => {
    const { message } = faultOf("a.csv", "name,description,price\n“Soup”,“Hot, spicy”,5\n,,5\n,,6\n,,7\n")
    expect(message).toBe(
      "has no row that can be imported: row 2 has 4 cells where the header has 3; skipped: “Soup”,“Hot,spicy”,5. " +
        "Put a text with \",\" in it in double quotes, such as \"salt, pepper\"; row 3 has no name; skipped: \"5\"; " +
        "row 4 has no name; skipped: \"6\"; and 1 more"
    )
  })
})

describe("a category", () => {
  it("is one whatever its case and spacing, in the spelling that comes first", () => {
    const reading = readCsv("name,category\nPie,Mains\nStew,mains\nRoast,MAINS\nFish,mains\nCake,Desserts\n")
    expect(reading.plan.items.map(({ category }) => category)).toEqual(["Mains", "Mains", "Mains", "Mains", "Desserts"])
    expect(messagesOf(reading)).toEqual([
      "row 3, \"Stew\": category \"mains\" is taken as \"Mains\", as in a row above",
      "row 4, \"Roast\": category \"MAINS\" is taken as \"Mains\", as in a row above"
    ])
    expect(
      readJson({
        version: "1.0",
        business: { name: "a", description: "b" },
        catalog_items: [{ name: "Pie", category: "Mains" }, { name: "Stew", category: "mains" }]
      }).plan.items.map(({ category }) => category)
    ).toEqual(["Mains", "Mains"])
  })

  it("that stands once above its items is told of", () => {
    const reading = readCsv("name,price,category\nPie,5,Mains\nStew,6,\nRoast,7,\nCake,4,Desserts\nIce,3,\n")
    expect(messagesOf(reading)).toEqual([
      "file has each category once (\"Mains\", \"Desserts\"), and 3 items without one; write it in each row"
    ])
    expect(messagesOf(readCsv("name,category\nPie,Mains\nStew,Mains\nRoast,\nCake,Desserts\n"))).toEqual([])
  })
})

describe("a row that is probably no item", () => {
  it("is imported and told of: totals, headings, doubles", () => {
    const reading = readCsv(
      "name,price,category\nSTARTERS,,\nSoup,5,a\nsoup ,6,a\nSoup,7,b\nSoup,8,a\nTea,,\nTotal,\"1,257.25\",\nTotal care,9,c\n"
    )
    expect(reading.plan.items.length).toBe(8)
    expect(messagesOf(reading)).toEqual([
      "row 2, \"STARTERS\": has a name and nothing else, like the heading of a section; it was imported as an item",
      "row 8, \"Total\": looks like a total and not like an item; it was imported",
      "row 7, \"Tea\": has a name and nothing else, like the heading of a section; it was imported as an item",
      "row 4, row 6 have the name of row 3, \"Soup\", in the same category; all were imported"
    ])
  })

  it("is skipped when it is the header again", () => {
    const reading = readCsv("Name,Price\nSoup,5\nName,Price\nTea,4\n")
    expect(namesOf(reading)).toEqual(["Soup", "Tea"])
    expect(messagesOf(reading)).toEqual(["row 3 repeats the header, \"Name, Price\"; skipped"])
  })
})

describe("a header", () => {
  it("may stand below the title of the sheet, which is told", () => {
    const reading = readCsv("Menu of the Copper Ladle,,\n,,\nName,Price,Category\nSoup,5,Starters\n")
    expect(reading.plan.items).toMatchObject([{ name: "Soup", priceCents: 500, category: "Starters" }])
    expect(messagesOf(reading)).toEqual(["file has its header in row 3; what stands above it was left out"])
  })

  it("is the first row that has a name, and no row of items", () => {
    expect(namesOf(readCsv("name\nPrice\nname\n"))).toEqual(["Price", "name"])
  })
})

it("bars may separate the cells", () => {
  expect(readCsv("name|price|category\nSoup, hot|5.50|Starters\n")).toMatchObject({
    delimiter: "|",
    plan: { items: [{ name: "Soup, hot", priceCents: 550 }] }
  })
})

it("100,000 empty rows end the file, and a row below them is told", () => {
  const reading = readCsv(`name,price\nSoup,5\n${"\n".repeat(100_500)}Tea,4\n`)
  expect(namesOf(reading)).toEqual(["Soup"])
  expect(messagesOf(reading)).toEqual([
    expect.stringMatching(/^row 100\d\d\d is where reading ended, after 100,000 empty rows; delete these$/)
  ])
})

describe("a file without a header row", () => {
  const menu = "Margherita;3000\nSonkás pizza;3500,50\nGombás pizza;2990\n"

  it("is told as such, with a guess of its columns, and imported when they are passed back", () => {
    const { choice, message } = faultOf("a.csv", menu)
    expect(message).toBe(
      "has no header row: its first row is Margherita;3000. If this is right, pass mappings " +
        "{\"column 1\":\"name\",\"column 2\":\"price\"}; or write a header above it, such as name;price"
    )
    expect(choice?.columns).toEqual(["column 1", "column 2"])
    const reading = Either.getOrThrow(readFile("a.csv", menu, choice?.suggestion.mappings))
    expect(reading.plan.items).toMatchObject([
      { name: "Margherita", priceCents: 300_000 },
      { name: "Sonkás pizza", priceCents: 350_050 },
      { name: "Gombás pizza", priceCents: 299_000 }
    ])
    expect(reading.warnings).toEqual([])
  })

  it("names its columns by number to who passes others", () => {
    expect(faultOf("a.csv", menu, { Dish: "name" }).message).toContain("name its columns column 1, column 2 and so on")
  })

  it.each([
    ["1,Soups,Pho,8.50\n2,Soups,Ramen,9.50\n3,Soups,Udon,9\n4,Soups,Tom yum,7\n", {
      "column 3": "name",
      "column 4": "price",
      "column 2": "category"
    }],
    ["Soup,Made of what the market has today,$5.00\nTea,With mint and honey of our own,$3\n", {
      "column 1": "name",
      "column 2": "description",
      "column 3": "price"
    }],
    ["Our menu,\nŻurek,12 zł\nPierogi,15 zł\n", { "column 1": "name", "column 2": "price" }]
  ])("has its columns guessed by what is in them: %j", (content, expected) => {
    expect(faultOf("a.csv", content).choice?.suggestion.mappings).toEqual(expected)
  })

  it.each(["Dish,Cost\nSoup,5\n", "Gericht;2024\nSuppe;5\n", "Foo,Bar\nSoup,5\n"])(
    "is not one with a header: %j",
    (content) => {
      expect(faultOf("a.csv", content).message).not.toContain("no header row")
    }
  )
})

describe("a text with a comma and no quotes gives no wrong price", () => {
  it.each([
    ["name,price,category\nWings, spicy,12,9.99\n", /row 2 has 4 cells where the header has 3; skipped/],
    [
      "name,description,price,category,\nWings,Spicy, 12,9.99,Mains,\n",
      /row 2 has a cell in a column without a name, and more cells/
    ],
    ["name,description,price,category\nWings,Spicy, 12,9.99\n", /row 2 has an amount as its category; skipped/]
  ])("%j", (rows, message) => {
    const reading = readCsv(
      `${rows}Soup,5,,\n`.replace("Soup,5,,", rows.startsWith("name,price") ? "Soup,5,x" : "Soup,x,5,y")
    )
    expect(reading.plan.items.map(({ name, priceCents }) => [name, priceCents])).toEqual([["Soup", 500]])
    expect(messagesOf(reading)).toEqual([expect.stringMatching(message)])
  })
})

describe("a JSON list of items", () => {
  it("is read as the items of a catalog, without a profile", () => {
    const reading = readJson([{ name: "Soup", price: 5 }, { name: "Tea", price: 3.5, category: "Drinks" }, 7])
    expect(reading.plan).toMatchObject({
      business: null,
      items: [{ name: "Soup", priceCents: 500 }, { name: "Tea", priceCents: 350, category: "Drinks" }]
    })
    expect(messagesOf(reading)).toEqual(["catalog_items[2] is not an object but 7; skipped"])
  })

  it("has its keys mapped as other files have", () => {
    const content = JSON.stringify([{ dish: "Soup", cost_in_usd: 5 }])
    const { choice, message } = faultOf("a.json", content)
    expect(message).toContain("has no item that can be imported: catalog_items[0] has no name")
    expect(message).toContain("pass mappings {\"dish\":\"name\"")
    expect(choice).toMatchObject({ columns: ["dish", "cost_in_usd"], suggestion: { mappings: { dish: "name" } } })
    const reading = Either.getOrThrow(readFile("a.json", content, { dish: "name", cost_in_usd: "price" }))
    expect(reading.plan.items).toMatchObject([{ name: "Soup", priceCents: 500 }])
  })
})
