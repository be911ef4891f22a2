import { Either } from "effect"
import { excerpt } from "./cleaning.ts"
import { isCost } from "./cost-words.ts"
import {
  discounts,
  fitOf,
  isCents,
  isForeignMoney,
  isPriceOfSize,
  isSurcharge,
  looksLikeMoney,
  plainHeader
} from "./header-words.ts"
import { priceOfCents } from "./price-cents.ts"
import { writtenPrice } from "./price-words.ts"
import { hasCommaDecimal } from "./price.ts"

/** A column, and what it has in the first rows. */
export interface Column {
  readonly name: string
  readonly cells: ReadonlyArray<string>
}

/** What a column has in it, as prices. `flags` are 0 and 1 alone; `unread` has digits and no price. */
type Content = "empty" | "zeros" | "flags" | "unread" | "text" | "prices"

export interface PriceColumn extends Column {
  readonly plain: string
  readonly inCents: boolean
  readonly content: Content
  /** In cents, row by row; null where a cell has no price above zero. */
  readonly prices: ReadonlyArray<number | null>
  readonly filled: number
}

/** The header without the name of a shop in brackets: `Price [Group Cost]` is `price`. */
export const withoutShop = (name: string) => plainHeader(name.replace(/\[[^\]]*\]/g, " "))

const contentOf = (cells: ReadonlyArray<string>, prices: ReadonlyArray<number | null>): Content => {
  const filled = cells.filter((cell) => cell !== "")
  if (filled.length === 0) return "empty"
  if (filled.every((cell) => /^[01]$/.test(cell))) return filled.includes("1") ? "flags" : "zeros"
  if (prices.some((price) => price !== null)) return "prices"
  if (filled.every((cell) => /^\D{0,4}[0.,]+\D{0,4}$/.test(cell))) return "zeros"
  return filled.some((cell) => /\d/.test(cell)) ? "unread" : "text"
}

/** Reads the cells only when somebody asks for what they have: few columns of a file may be prices. */
export const priceColumn = ({ cells, name }: Column, isInCents?: boolean): PriceColumn => {
  const plain = withoutShop(name)
  const inCents = isInCents ?? isCents(plain)
  const trimmed = cells.map((cell) => cell.trim())
  const read = () => {
    const decimal = trimmed.some(hasCommaDecimal) ? "comma" : "point"
    return trimmed.map((cell) => {
      if (!/[1-9]/.test(cell) || cell.length > 100) return null
      const price = inCents ? priceOfCents(cell) : Either.map(writtenPrice(cell, decimal), ({ cents }) => cents)
      return Either.getOrElse(price, () => null)
    })
  }
  const look = () => {
    const prices = read()
    return {
      prices,
      content: contentOf(trimmed, prices),
      filled: prices.filter((price) => price !== null).length
    }
  }
  let known: ReturnType<typeof look> | undefined
  const seen = () => known ??= look()
  return {
    name,
    cells: trimmed,
    plain,
    inCents,
    get prices() {
      return seen().prices
    },
    get content() {
      return seen().content
    },
    get filled() {
      return seen().filled
    }
  }
}

/** Names of what customers pay. Columns that have one of these are equals, as is one with a shop in brackets. */
const main = new Set([
  ...["price", "prices", "regular price", "retail price", "base price", "list price", "selling price", "sell price"],
  ...["sales price", "item price", "menu price", "product price", "service price", "variant price", "default price"],
  ...["full price", "public price", "preis", "verkaufspreis", "vk", "precio", "precio de venta", "prix"],
  ...["prix de vente", "prezzo", "prezzo di vendita", "preço", "preco", "preço de venda", "prijs", "verkoopprijs"],
  ...["pris", "cena", "цена", "价格", "価格", "가격", "retail", "ladenpreis", "listino", "tarif", "tarifa"]
])
/** What may be a price when there is no other: a reduced one, one for a measure, a recommended one. */
const second =
  /\b(?:sale|special|promo|promotion|discounted|reduced|unit|starting|msrp|rrp|uvp|rate|fee|amount|charge|usd|dollars?|angebotspreis|aktionspreis|sonderpreis|grundpreis|oferta|rebajado|promotionnel|saldo|offerta|акции|распродажи)\b|^\$$/u

/** How well a column fits as the price, smaller is better; undefined when it doesn't. */
const tierOf = ({ cells, plain }: PriceColumn, preset: ReadonlyArray<string>) => {
  const place = preset.indexOf(plain)
  if (place >= 0) return place - preset.length
  if (isForeignMoney(plain) || isCost(plain) || isSurcharge(plain)) return undefined
  if (isCents(plain)) return 0
  if (fitOf("price", plain) === undefined) {
    const some = cells.slice(0, 50)
    return looksLikeMoney(some) && !discounts.test(plain) || isPriceOfSize(plain, some) ? 4 : undefined
  }
  if (main.has(plain) || main.has(plain.replace(/ (?:usd|us\$|dollars?|\$)$/, ""))) return 1
  return second.test(plain) ? 3 : 2
}

/** Rows in which another column has a price that this one has not, by their places. */
export const conflicts = (one: PriceColumn, other: PriceColumn): ReadonlyArray<number> =>
  other.prices.flatMap((price, at) => price !== null && price !== one.prices[at] ? [at] : [])

interface PriceChoice {
  /** The column to suggest. */
  readonly column?: PriceColumn
  /** Columns of which one may be meant, and only the owner knows which. */
  readonly undecided: ReadonlyArray<PriceColumn>
}

/** Of more candidates nobody is asked: a file of so many prices needs rows of its own for them. */
const mostUndecided = 10

/**
 * Chooses the price among columns. One with content wins; of columns that fit alike, or of which the best fit has less
 * than half of the prices, none wins when they differ.
 */
export const choosePrice = (columns: ReadonlyArray<PriceColumn>, preset: ReadonlyArray<string>): PriceChoice => {
  const ranked = columns.flatMap((column) => {
    const tier = tierOf(column, preset)
    return tier === undefined ? [] : [{ column, tier, fit: fitOf("price", column.plain) ?? 1000 }]
  })
  const having = (content: Content) => ranked.filter(({ column }) => column.content === content)
  const priced = having("prices")
  const sorted = (priced.length > 0 ? priced : having("unread")).toSorted((a, b) =>
    a.tier - b.tier || b.column.filled - a.column.filled || a.fit - b.fit
  )
  const [best] = sorted
  if (best === undefined) return { undecided: [] }
  const rivals = sorted.slice(1).flatMap(({ column, tier }) =>
    (tier === best.tier || column.filled > 2 * best.column.filled) && conflicts(best.column, column).length > 0
      ? [column]
      : []
  )
  return rivals.length > 0
    ? { undecided: [best.column, ...rivals].slice(0, mostUndecided) }
    : { column: best.column, undecided: [] }
}

const cellOf = ({ cells }: Column, at: number) => {
  const cell = cells[at] ?? ""
  return cell === "" ? "none" : `"${excerpt(cell)}"`
}

/** Three rows in which columns have other prices, with the cells of each in the columns' order. */
export const threeRows = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<number>,
  entryOf: (at: number) => string
) => {
  const shown = rows.slice(0, 3).map((at) =>
    `${entryOf(at)} ${columns.map((column) => cellOf(column, at)).join(" and ")}`
  )
  return `${shown.join("; ")}${rows.length > 3 ? `; and ${rows.length - 3} more` : ""}`
}
