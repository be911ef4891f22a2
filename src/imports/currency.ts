import { Either } from "effect"
import { excerpt } from "./cleaning.ts"
import { isForeignMoney, plainHeader } from "./header-words.ts"
import { type WrittenPrice } from "./price-words.ts"
import { foreignWhy } from "./price.ts"

const columnNames = new Set([
  ...["currency", "currency code", "currency iso", "iso currency", "price currency", "currency symbol"],
  ...["moneda", "währung", "devise", "valuta", "moeda", "валюта", "通貨"]
])

/** Whether a column says in which currency the row's price is. */
export const isCurrencyColumn = (name: string) => columnNames.has(plainHeader(name))

const dollars = /\bUSD\b|^(?:US|U\.S\.)?\s?\$$|^(?:(?:US|U\.S\.|American)\s)?dollars?$/i
const nothing = /^(?:n\/a|none|default)?$/i

/** Whether the value of such a column is another currency; one that says nothing is none. */
const isForeign = (value: string) => /[\p{L}\p{Sc}]/u.test(value) && !nothing.test(value) && !dollars.test(value)

/** Why amounts beside this value of a currency column can't be imported; undefined when they can. */
export const foreignByColumn = (name: string, value: unknown) => {
  const currency = typeof value === "string" ? value.trim().slice(0, 100) : ""
  return isForeign(currency) ? `${foreignWhy}: its ${name} is "${currency}"` : undefined
}

/** Why no amount below this name of a price column can be imported: `Price (EUR)`. */
export const foreignByName = (name: string) =>
  isForeignMoney(plainHeader(name)) ? `${foreignWhy}: its column is "${excerpt(name)}"` : undefined

/** A price whose amount is in the currency that `why` tells of. Nothing costs nothing in any currency. */
export const inCurrency = (
  price: Either.Either<WrittenPrice, string>,
  why: string | undefined
): Either.Either<WrittenPrice, string> =>
  why === undefined ?
    price :
    Either.flatMap(price, (written) => (written.cents ?? 0) === 0 ? Either.right(written) : Either.left(why))
