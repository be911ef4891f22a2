import { isCost } from "#src/imports/cost-words.ts"
import { plainHeader } from "#src/imports/header-words.ts"
import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { messagesOf, readFile } from "./support/read-file.ts"

const read = (content: string, mappings: Mappings = {}) => Either.getOrThrow(readFile("a.csv", content, mappings))
const suggested = (content: string) => read(content).suggestion.mappings
const prices = (content: string) => read(content, suggested(content)).plan.items.map(({ priceCents }) => priceCents)

describe("a cost", () => {
  it.each([
    ...[
      "Cost",
      "Purchase price",
      "Wholesale",
      "EK",
      "EK-Preis",
      "Einkaufspreis",
      "Coste",
      "coût",
      "costo",
      "Cost Price"
    ],
    ...["standard_price", "Standard Price", "Unit cost", "Wholesale price", "Prix d'achat", "Precio de compra", "原価"],
    ...[
      "仕入価格",
      "Себестоимость",
      "Закупочная цена",
      "Inkoopprijs",
      "Prezzo di acquisto",
      "supply_price",
      "cost_per_item"
    ],
    ...["Dealer price", "Trade Price", "Vendor Price", "FOB", "Landed price", "Buy", "Factory price", "Reseller Price"],
    ...["Ankaufspreis", "Nettoeinkaufspreis", "Lieferantenpreis", "Bezugspreis", "Händlerpreis", "Grosshandelspreis"],
    ...["Prix de gros", "Prix fournisseur", "Precio proveedor", "Prezzo fornitore", "Groothandelsprijs", "Оптовая цена"]
  ])("is known by the header %s, and never suggested as the price", (header) => {
    expect(isCost(plainHeader(header))).toBe(true)
    const content = `name,${header},sku\nSoup,2.10,a\nTea,$0.90,b\n`
    expect(suggested(content)).toEqual({})
    const { loss, warnings } = read(content)
    expect(loss?.message).toContain(`pass mappings ${JSON.stringify({ [header]: "ignore" })} to publish without prices`)
    expect(warnings.map(({ type }) => type)).toEqual(["field_skipped"])
    expect(read(content, { [header]: "ignore" }).loss).toBeUndefined()
    expect(read(content, { [header]: "price" }).loss).toBeUndefined()
  })

  it.each(["Price [Cost Co]", "Default price", "Verkaufspreis", "Sales Price", "list_price", "Precio [Compras]", "VK"])(
    "never wins over %s, whatever comes first",
    (header) => {
      for (const columns of [["Cost", header], [header, "Cost"]]) {
        const cells = (price: string, cost: string) =>
          columns.map((column) => column === "Cost" ? cost : price).join(",")
        const content = `name,${columns.join(",")}\nSoup,${cells("8.50", "2.10")}\nTea,${cells("3.00", "0.90")}\n`
        expect([suggested(content), prices(content)]).toEqual([{ [header]: "price" }, [850, 300]])
      }
    }
  )

  it.each([
    ["Dealer price", "Retail"],
    ["Händlerpreis", "UVP"],
    ["Prezzo fornitore", "Listino"],
    ["Prix fournisseur", "Tarif"],
    ["Ankaufspreis", "Ladenpreis"]
  ])("%s never wins over %s, which has a word of its own for the price", (cost, price) => {
    const content = `name,${cost},${price}\nSoup,2.10,8.50\nTea,0.90,3.00\n`
    expect([suggested(content), prices(content)]).toEqual([{ [price]: "price" }, [850, 300]])
  })

  it("is not told beside a price", () => {
    expect(messagesOf(read("name,price,Cost\nSoup,8.50,2.10\n"))).toEqual([])
  })
})

describe("what a column has in it", () => {
  it.each(["", "0", "0.00", "0,00", "1", "$0.00"])("makes it no price when that is %j alone", (cell) => {
    const content = `name;Unit price;Price tax excluded\nSoup;${cell};8,50\nTea;${cell};3\n`
    expect([suggested(content), prices(content)]).toEqual([{ "Price tax excluded": "price" }, [850, 300]])
    expect(suggested(`name,Unit price\nSoup,${cell}\nTea,0\n`)).toEqual({})
  })

  it("decides between two columns for one field, also where one has the contract's name", () => {
    expect(suggested("name,Type,Product Category\nSoup,,Starters\n")).toEqual({ "Product Category": "category" })
    expect(suggested("name,price,category,Regular price,Section\nSoup,,,8.50,Starters\n")).toEqual({
      "Regular price": "price",
      Section: "category"
    })
    expect(suggested("name,price,Regular price\nSoup,0.00,8.50\nTea,0.00,3.00\n")).toEqual({ "Regular price": "price" })
    expect(suggested("name,category_id,price\nSoup,12,5\n")).toEqual({})
  })

  it("is looked at beyond the first rows", () => {
    const rows = Array.from({ length: 300 }, (_, at) => `Soup ${at},,${at < 250 ? "" : "8.50"}\n`).join("")
    expect(suggested(`name,Base price,Online price\n${rows}`)).toEqual({ "Online price": "price" })
  })
})

describe("of two prices", () => {
  it("that differ none is suggested, by whatever name they are equals", () => {
    for (const [one, other] of [["Price [North]", "Price [South]"], ["Price incl. VAT", "Price excl. VAT"]] as const) {
      const reading = read(`name,${one},${other}\nSoup,8.50,9.00\nTea,3.00,3.00\n`)
      expect(reading.suggestion).toMatchObject({ mappings: {}, undecided: [one, other] })
      expect(reading.loss?.message).toContain("row 2, \"Soup\": \"8.50\" and \"9.00\". Ask which of them customers pay")
      expect(reading.loss?.message).not.toContain("pass mappings")
    }
  })

  it("in cents the one is to be mapped as such", () => {
    const { loss, suggestion } = read("name,Small price cents,Large price cents\nSoup,850,900\n")
    expect(suggestion.undecided).toEqual(["Small price cents", "Large price cents"])
    expect(loss?.message).toContain("map that one to price_cents and the others to ignore")
  })

  it("more than ten are not put to the owner", () => {
    const columns = Array.from({ length: 30 }, (_, at) => `Price ${at}`)
    const content = `name,${columns.join(",")}\nSoup,${columns.map((_, at) => at + 2).join(",")}\n`
    expect(read(content).suggestion.undecided).toEqual(columns.slice(0, 10))
  })

  it("that are the same one is suggested: the fuller", () => {
    expect(suggested("name,Price [A],Price [B]\nSoup,,9.00\nTea,3.00,3.00\n")).toEqual({ "Price [B]": "price" })
  })

  it("the regular one is suggested before a reduced one, and the advice shows rows of both", () => {
    const content = "name,Sale price,Regular price\nSoup,7.00,8.50\nTea,,3.00\n"
    expect(suggested(content)).toEqual({ "Regular price": "price" })
    expect(read(content).loss?.message).toContain(
      "Check it first: \"Regular price\" and \"Sale price\" have other prices: row 2, \"Soup\": \"8.50\" and \"7.00\""
    )
  })

  it("one that has less than half of the prices is not suggested alone", () => {
    const content = "name,Base price,Online price\nA,2,10\nB,,20\nC,,30\n"
    expect(read(content).suggestion).toMatchObject({ mappings: {}, undecided: ["Base price", "Online price"] })
  })
})

describe("a column of categories", () => {
  it.each(["main_category", "subcategory", "Product Category", "Categories (x,y,z...)", "Warengruppe"])(
    "called %s is suggested",
    (header) => {
      expect(suggested(`name;${header};price\nSoup;Starters;5\n`)).toEqual({ [header]: "category" })
    }
  )

  it("that is left out is told with rows of both, unless it has the same", () => {
    const told = (content: string) => messagesOf(read(content))
    expect(told("name,category,subcategory,price\nSoup,Menu,Starters,5\nTea,Menu,menu,3\n")).toEqual([
      "column subcategory was left out and has other categories than category: row 2, \"Soup\": \"Menu\" and \"Starters\"; an " +
      "item has one category"
    ])
    expect(told("name,category,Reporting Category\nSoup,Menu,Menu\n")).toEqual([])
    expect(told("name,category_id\nSoup,12\n")).toEqual([
      "column category_id was left out: it has numbers, and no names of categories"
    ])
  })
})

describe("the keys of JSON items", () => {
  const json = (items: ReadonlyArray<object>, mappings: Mappings = {}) =>
    Either.getOrThrow(readFile(
      "a.json",
      JSON.stringify({ version: "1.0", business: { name: "A", description: "b" }, catalog_items: items }),
      mappings
    ))

  it("are looked at as columns are: a cost is no price, and of two that differ none is suggested", () => {
    expect(json([{ name: "Soup", cost: 2.1, list_price: 8.5 }]).suggestion.mappings).toEqual({ list_price: "price" })
    expect(json([{ name: "Soup", cost: 2.1 }]).loss?.message).toContain("is by its name what the shop pays")
    const two = json([{ name: "Soup", "Price [A]": 8.5, "Price [B]": 9 }])
    expect(two.suggestion).toMatchObject({ mappings: {}, undecided: ["Price [A]", "Price [B]"] })
    expect(two.loss?.message).toContain("catalog_items[0], \"Soup\": \"8.5\" and \"9\"")
    const second = json([[], { name: "Soup", "Price [A]": 8.5, "Price [B]": 9 }])
    expect(second.loss?.message).toContain("catalog_items[1], \"Soup\": \"8.5\" and \"9\"")
    expect(messagesOf(json([{ name: "Soup", price: 8.5, salePrice: 7, cost: 2 }]))).toEqual([
      "column salePrice was left out and has other prices than price: catalog_items[0], \"Soup\": \"8.5\" and \"7\"; an item " +
      "has one price. Give each price a row of its own, or pass mappings {\"salePrice\":\"ignore\"}",
      "catalog_items[].cost is not a field of an import and was left out"
    ])
  })
})
