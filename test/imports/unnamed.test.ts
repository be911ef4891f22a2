import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { readFile } from "./support/read-file.ts"

const refused = (name: string, content: string) => Either.getOrThrow(Either.flip(readFile(name, content, {})))
const pricesOf = (name: string, content: string) => {
  const { suggestion } = refused(name, content).choice!
  const { plan } = Either.getOrThrow(readFile(name, content, suggestion.mappings))
  return plan.items.map(({ priceCents }) => priceCents)
}

describe("a file whose price has its own name, and whose names have not", () => {
  it.each([
    ["Item Name,Price,Sale Price\nSoup,5.00,\nStew,8.00,6.50\nPie,4.00,\n", [500, 800, 400]],
    ["Item Name,Price,Takeaway Price\nSoup,5.00,4.50\nStew,8.00,7.00\n", [500, 800]],
    ["Product,Price,Member Price\nSoup,5.00,4\nStew,8.00,7\n", [500, 800]],
    ["Product Name,price,price_usd\nSoup,5.00,4\n", [500]],
    ["Item Name,Price,Online Sale Price\nBagel,2.95,2.50\nFlat White,3,\n", [295, 300]]
  ])("keeps that price when its advice is followed: %j", (content, prices) => {
    expect(pricesOf("a.csv", content)).toEqual(prices)
    expect(refused("a.csv", content).message).toContain("have other prices")
  })

  it("is the same as JSON", () => {
    const items = [{ title: "Desk", price: 49.5, sale_price: 39 }, { title: "Chair", price: 120 }]
    expect(pricesOf("a.json", JSON.stringify(items))).toEqual([4_950, 12_000])
  })

  it("is not said to have no price, beside a cost", () => {
    const content = "Item Name,Price,Category,Cost\nSoup,5,Hot,2\nTea,8,Hot,3\n"
    expect(refused("a.csv", content).message).not.toContain("has no price")
    expect(pricesOf("a.csv", content)).toEqual([500, 800])
  })
})

it("sizes with a few prices are asked about, and whole numbers of a stock are none", () => {
  expect(refused("a.csv", "Item,Small,Large\nLatte,3.5,4.5\nMocha,4,5\n").choice!.suggestion.undecided)
    .toEqual(["Small", "Large"])
  expect(refused("a.csv", "Item,S,M\nShirt,3,4\nCap,4,5\n").choice!.suggestion.undecided).toEqual([])
})
