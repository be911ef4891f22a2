import { Either } from "effect"

/** US cents, or why there is none. */
export type Price = Either.Either<number, string>

/** What a column of type integer holds. */
const mostCents = 2_147_483_647

const tooLarge = Either.left(`is more than ${mostCents / 100} dollars`)
const notNumber = Either.left("is not a price in dollars")
const negative = Either.left("is negative")

/** From the decimal digits, so that no binary fraction comes between; the third digit rounds half up. */
const centsOf = (whole: string, fraction: string): Price => {
  const dollars = whole.replace(/^0+/, "")
  if (dollars.length > 8) return tooLarge
  const roundsUp = (fraction[2] ?? "0") >= "5"
  const cents = Number(dollars) * 100 + Number(fraction.padEnd(2, "0").slice(0, 2)) + (roundsUp ? 1 : 0)
  return cents > mostCents ? tooLarge : Either.right(cents)
}

/** A JSON price: a number of dollars. What its shortest decimal form says is what was meant (ECMA-262 §6.1.6.1.20). */
export const priceOfNumber = (value: unknown): Price => {
  if (typeof value !== "number" || Number.isNaN(value)) return Either.left("is not a number of dollars")
  if (value < 0) return negative
  if (value >= 1e8) return tooLarge
  if (value < 1e-6) return Either.right(0)
  const [whole = "", fraction = ""] = String(value).split(".")
  return centsOf(whole, fraction)
}

const currency = /^(?:(?:US|USD)?\s*\$|USD)\s*|\s*(?:\$|USD)$/gi
const plain = /^(\d+)(?:\.(\d*))?$|^\.(\d+)$/
const grouped = /^(\d{1,3}(?:,\d{3})+)(?:\.(\d*))?$/
const spaced = /^(\d{1,3}(?: \d{3})+)(?:\.(\d{1,2}))?$/
const commaDecimal = /^(\d+|\d{1,3}(?: \d{3})+),(\d{1,2})$/
const pointGrouped = /^(\d{1,3}(?:\.\d{3})+),(\d{1,2})$/
/** One group of three after one mark: thousands to some, three decimals to others. */
const ambiguous = /^\d{1,3}[.,]\d{3}$/

/**
 * A price in a cell: `8.99`, `$1,234.50`, `1 234.50`. Where a semicolon separates the cells, a comma may separate the
 * cents (`8,99`, `1.234,50`), and what could then be either is not guessed at.
 */
export const priceOfText = (text: string, delimiter: string): Price => {
  const bare = text.replace(/[\u00a0\u202f]/g, " ").trim().replace(currency, "").trim()
  if (/^-|^\(.*\)$/.test(bare) && /\d/.test(bare)) return negative
  const european = delimiter === ";"
  if (european && ambiguous.test(bare)) return Either.left("can be read in two ways; write the cents with two digits")
  const found = plain.exec(bare) ?? grouped.exec(bare) ?? spaced.exec(bare) ??
    (european ? commaDecimal.exec(bare) ?? pointGrouped.exec(bare) : null)
  if (found === null) return notNumber
  const [, whole = "", fraction = "", onlyFraction = ""] = found
  return centsOf(whole.replace(/[., ]/g, ""), fraction === "" ? onlyFraction : fraction)
}
