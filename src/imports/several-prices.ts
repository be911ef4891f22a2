import { Either } from "effect"
import { type Columns, mostNamed } from "./columns.ts"
import { isPriceWord, plainHeader } from "./header-words.ts"
import { isFields, own } from "./json-fields.ts"
import { type RawItem } from "./plan.ts"

const severalWhy =
  "has more than one number, and an item has one price. Write an item for each, such as \"Latte, Large\""

const hasSeveralNumbers = (text: string) => (text.slice(0, 400).match(/\d+(?:[.,]\d+)*/g) ?? []).length > 1

const forms =
  /^(?:varia(?:nt|tion|nz|ci[oó]n|ç[aã]o|zion)\p{L}*|sizes?|options?|gr(?:ö|oe)(?:ß|ss)en?|tallas?|tamaños?|tailles?|taglia|taglie)$/u
const extras = /^(?:add ?ons?|modifiers?|extras?|toppings?)$/u
const isOfForms = (plain: string) => plain.split(" ").some((word) => forms.test(word))

/** The columns that may list the forms of an item in one cell: `S,L`. */
export const formColumns = (names: ReadonlyArray<string>, { ignored, variation }: Columns) =>
  names.slice(0, mostNamed).flatMap((name, at) =>
    at === variation || isOfForms(plainHeader(name)) && !ignored.has(at) ? [at] : []
  )

const formsIn = (cell: string) => cell.split(/[,;|/\n]/).filter((form) => form.trim() !== "").length

export const listWhy =
  "may be a list with a price for each form of the item. Write one price with its cents after a point, " +
  "such as 1200.00, or an item for each, such as \"Latte, Large\""

/** Whether a price may as well be a list, by the columns of forms: `8,12` beside `S,L`. */
export const mayBeList = (price: string, cells: ReadonlyArray<string>, columns: ReadonlyArray<number>) => {
  const parts = price.trim().split(/[, ]/, 10)
  return parts.length > 1 && parts.every((part) => /^[1-9]\d*$/.test(part)) &&
    columns.some((at) => formsIn(cells[at] ?? "") === parts.length)
}

/** Longer texts are descriptions. */
const mostList = 300
const marked = /\$\s?\d|\d\s?\$/
const cents = /\d[.,]\d\d(?!\d)/
const named = /\p{L}.*\d|\d.*\p{L}/u

/**
 * Whether a cell beside the price lists prices, such as `Small $8; Large $12`: in any column amounts with the dollar's
 * mark, in one of forms or extras also amounts with cents. Without a price of the row these also `Small:8|Large:12`.
 */
const isListOfPrices = (cell: string, plain: string, isPriced: boolean, least: number) => {
  const parts = cell.split(/[;|\n]|,(?!\d)| \/ /)
  const isNamed = isOfForms(plain) || plain.split(" ").some((word) => extras.test(word) || isPriceWord(word))
  const count = (kind: RegExp) => parts.filter((part) => kind.test(part)).length
  return count(marked) >= least || isNamed && count(cents) >= least || isNamed && !isPriced && count(named) >= least
}

/** A value of a JSON item as a cell would have it; a price within it gets the dollar's mark. */
export const cellOf = (value: unknown): string => {
  if (typeof value === "string" || typeof value === "number") return String(value)
  if (Array.isArray(value)) return value.map(cellOf).join("; ")
  if (!isFields(value)) return ""
  const name = cellOf(own(value, "name") ?? own(value, "title") ?? own(value, "size") ?? "")
  const price = Object.keys(value).find((key) => plainHeader(key).split(" ").some(isPriceWord))
  return price === undefined
    ? Object.entries(value).map(([key, one]) => `${key} ${cellOf(one)}`).join("; ")
    : `${name} $${cellOf(value[price])}`
}

/** A column that is not imported, or a key of a JSON item. */
export interface Beside {
  readonly name: string
  readonly value: unknown
}

/** The first of these whose value lists prices, beside the price of the row or item. */
export const pricesBeside = (columns: ReadonlyArray<Beside>, price: RawItem["price"]): Beside | undefined => {
  const isPriced = price !== null && Either.isRight(price) && (price.right.cents ?? 0) > 0
  for (const { name, value } of columns) {
    const isNested = typeof value === "object" && value !== null
    const cell = isNested ? cellOf(value).slice(0, mostList) : typeof value === "string" ? value.trim() : ""
    if (!/\d/.test(cell) || cell.length > mostList) continue
    if (isListOfPrices(cell, plainHeader(name), isPriced, isNested && !isPriced ? 1 : 2)) return { name, value: cell }
  }
  return undefined
}

/** A price of 0 beside prices is none. */
export const priceBeside = (price: RawItem["price"], beside: Beside | undefined): RawItem["price"] =>
  beside !== undefined && price !== null && Either.isRight(price) && price.right.cents === 0 ? null : price

/** As it is told: with the cure where a price that can't be read may be several. */
export const orSeveral = (text: string) =>
  Either.mapLeft((why: string) => why.startsWith("is not a") && hasSeveralNumbers(text) ? severalWhy : why)
