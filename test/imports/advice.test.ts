import { type Mappings } from "#src/imports/Mappings.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { type Kind, kinds, products } from "./exports/kinds.ts"
import { write } from "./exports/sheet.ts"
import { readFile } from "./support/read-file.ts"

/** What programs and people write beside the price: nothing, zeros, 0 and 1, what the shop paid. */
const decoys: Readonly<Record<string, (at: number) => string>> = {
  "Price note": () => "",
  "Base price": () => "0.00",
  "Show price": (at) => `${at % 2}`,
  "Purchase price": (at) => `${at + 1}.10`,
  "Einkaufspreis": (at) => `$${at + 1}.20`
}

const variants = [
  { delimiter: ",", order: "as it is", before: [], cost: true },
  { delimiter: ";", order: "as it is", before: [], cost: true },
  { delimiter: "\t", order: "as it is", before: [], cost: false },
  { delimiter: ",", order: "reversed", before: [], cost: true },
  { delimiter: ";", order: "reversed", before: ["Purchase price"], cost: false },
  { delimiter: ",", order: "sorted", before: [], cost: true },
  { delimiter: ",", order: "as it is", before: ["Base price"], cost: true },
  { delimiter: ",", order: "as it is", before: ["Show price", "Price note"], cost: true },
  { delimiter: ";", order: "sorted", before: ["Show price", "Base price"], cost: true },
  { delimiter: ",", order: "as it is", before: ["Einkaufspreis"], cost: false },
  { delimiter: "\t", order: "reversed", before: Object.keys(decoys), cost: true },
  { delimiter: ",", order: "sorted", before: Object.keys(decoys), cost: true }
] as const

type Variant = typeof variants[number]

const amount = (cents: number, delimiter: string) =>
  (cents / 100).toFixed(2).replace(".", delimiter === ";" ? "," : ".")

const file = (kind: Kind, { before, cost, delimiter, order }: Variant) => {
  const own = kind.header.filter((name) => cost || name !== kind.cost)
  const header = order === "reversed" ? own.toReversed() : order === "sorted" ? own.toSorted() : own
  const rows = products.flatMap((product, at) =>
    (kind.hasForms === true ? product.forms : product.forms.slice(0, 1)).map((form, place) => {
      const paid = amount(Math.round(form.price / 3), delimiter)
      const price = amount(form.price, delimiter)
      const surcharge = amount(form.price - product.forms[0]!.price, delimiter)
      const prices = product.forms.map(({ price }) => amount(price, delimiter))
      return kind.row({
        ...product,
        at,
        first: place === 0,
        option: form.option,
        price,
        cost: paid,
        surcharge,
        prices
      })
    })
  ).flat()
  const cells = rows.map((row, at) => [
    ...before.map((name) => decoys[name]?.(at) ?? ""),
    ...header.map((name) => row[name] ?? "")
  ])
  return write([[...before, ...header], ...cells], { delimiter, encoding: delimiter === "\t" ? "utf-16le" : "utf-8" })
}

/** Publishes as an owner does who takes each advice, and who says which column holds the price and the name when asked. */
const followed = (kind: Kind, bytes: Uint8Array) => {
  let mappings: Mappings = {}
  for (let round = 0; round < 5; round++) {
    const answer = readFile("export.csv", bytes, mappings)
    const suggestion = Either.isRight(answer) ? answer.right.suggestion : answer.left.choice?.suggestion
    const suggested = suggestion?.mappings ?? {}
    const asked = suggestion?.undecided ?? []
    if (Object.keys(suggested).length === 0 && asked.length === 0 && Either.isRight(answer)) {
      expect(answer.right.loss).toBeUndefined()
      return answer.right
    }
    const decided: Mappings = Object.fromEntries(
      asked.map((column) => [column, column === kind.price ? "price" : "ignore"])
    )
    const named: Mappings = Either.isLeft(answer) && !Object.values(suggested).includes("name")
      ? { [kind.name]: "name" }
      : {}
    mappings = { ...mappings, ...suggested, ...decided, ...named }
  }
  throw new Error(`The advice has no end: ${JSON.stringify(mappings)}`)
}

const expected = (kind: Kind) =>
  products.flatMap(({ category, forms, hidden, name }) => {
    const shown = kind.hasForms === true ? forms : forms.slice(0, 1)
    const isAvailable = kind.hides !== true || hidden !== true
    const isParent = kind.hasParents === true && shown.length > 1
    return [
      ...(isParent ? [[name, shown[0]?.price, isAvailable, category]] : []),
      ...shown.map(({ option, price }) => [
        shown.length > 1 ? `${name}, ${option}` : name,
        kind.hasLists === true && forms.length > 1 ? null : price,
        isAvailable,
        category
      ])
    ]
  })

/** These export no category, or another one. */
const withoutCategory = ["Odoo, German", "Etsy, Italian", "a menu in two languages"]

describe.each(kinds)("an export of $title", (kind) => {
  it.each(variants)(
    "is published as its owner means when the advice is followed: $delimiter $order $before $cost",
    (variant) => {
      const items = followed(kind, file(kind, variant)).plan.items
      const hasCategory = !withoutCategory.includes(kind.title)
      expect(items.map(({ category, isAvailable = true, name, priceCents }) => [
        name,
        priceCents,
        isAvailable,
        ...(hasCategory ? [category] : [])
      ])).toEqual(expected(kind).map((item) => hasCategory ? item : item.slice(0, 3)))
    }
  )
})
