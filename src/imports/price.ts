import { Either } from "effect"

/** US cents, or why the price is invalid. */
export type Price = Either.Either<number, string>

/** How a file separates cents from dollars. */
export type Decimal = "point" | "comma"

/** The maximum of a column of type integer. */
export const mostCents = 2_147_483_647

const tooLarge = Either.left(`is more than ${mostCents / 100} dollars`)
const notNumber = Either.left("is not a price in dollars")
const negative = Either.left("is negative")
export const foreignWhy = "is not in US dollars, the only currency of a catalog"
const foreign = Either.left(foreignWhy)

/** Computed from the decimal digits, to avoid binary fractions; the third digit rounds half up. */
const centsOf = (whole: string, fraction: string): Price => {
  const dollars = whole.replace(/^0+/, "")
  if (dollars.length > 8) return tooLarge
  const roundsUp = (fraction[2] ?? "0") >= "5"
  const cents = Number(dollars) * 100 + Number(fraction.padEnd(2, "0").slice(0, 2)) + (roundsUp ? 1 : 0)
  return cents > mostCents ? tooLarge : Either.right(cents)
}

/** A JSON price: a number of dollars, taken as its shortest decimal form (ECMA-262 §6.1.6.1.20). */
export const priceOfNumber = (value: unknown): Price => {
  if (typeof value !== "number" || Number.isNaN(value)) return Either.left("is not a number of dollars")
  if (value < 0) return negative
  if (value >= 1e8) return tooLarge
  if (value < 1e-6) return Either.right(0)
  const [whole = "", fraction = ""] = String(value).split(".")
  return centsOf(whole, fraction)
}

const currency = /^(?:(?:US|USD)?\s*\$|USD)\s*|\s*(?:\$|USD|dollars?)$/gi
const foreignCurrency = /^(?![$¢])\p{Sc}|(?![$¢])\p{Sc}$|\b(?:EUR|GBP|CAD|AUD|JPY|CHF|MXN|INR|kr|zł)\b/iu
const plain = /^(\d+)(?:\.(\d*))?$|^\.(\d+)$/
const grouped = /^(\d{1,3}(?:,\d{3})+)(?:\.(\d*))?$/
const spaced = /^(\d{1,3}(?: \d{3})+)(?:\.(\d{1,2}))?$/
/** As in Switzerland. */
const apostrophes = /^(\d{1,3}(?:['’]\d{3})+)(?:[.,](\d{1,2}))?$/
const commaDecimal = /^(\d+|\d{1,3}(?: \d{3})+),(\d{1,2})$/
const pointGrouped = /^(\d{1,3}(?:\.\d{3})+),(\d{1,2})$/
/** One group of three after one mark: thousands in some locales, three decimals in others. */
const ambiguous = /^\d{1,3}[.,]\d{3}$/

/**
 * Spreadsheets export text that looks like a number as `="4.50"`. Runs of spaces become one first: the other patterns
 * would look at each of a long run from every place in it.
 */
const bareOf = (text: string) =>
  text.replace(/\s+/g, " ").trim().replace(/^="(.*)"$/, "$1").replace(currency, "").trim()

/**
 * Parses a price of a cell: `8.99`, `$1,234.50`, `1 234.50`. Where commas separate cents, `8,99` and `1.234,50` are
 * prices too; one that is then ambiguous is an error.
 */
export const priceOfText = (text: string, decimal: Decimal): Price => {
  const bare = bareOf(text)
  if (/^-|^\(.*\)$/.test(bare) && /\d/.test(bare)) return negative
  const comma = decimal === "comma"
  if (comma && ambiguous.test(bare)) return Either.left("can be read in two ways; write the cents with two digits")
  const match = plain.exec(bare) ?? grouped.exec(bare) ?? spaced.exec(bare) ?? apostrophes.exec(bare) ??
    (comma ? commaDecimal.exec(bare) ?? pointGrouped.exec(bare) : null)
  if (match === null) return bare.length < 100 && foreignCurrency.test(bare) ? foreign : notNumber
  const [, whole = "", fraction = "", onlyFraction = ""] = match
  return centsOf(whole.replace(/[., '’]/g, ""), fraction === "" ? onlyFraction : fraction)
}

/** Whether a cell can only be a price whose cents follow a comma. */
export const hasCommaDecimal = (text: string) => {
  const bare = bareOf(text.slice(0, 100)).replace(foreignCurrency, "").trim()
  return commaDecimal.test(bare) || pointGrouped.test(bare)
}

/** Whether rounding to cents changes the price. */
export const losesDigits = (text: string) => /\.\d{2}\d*[1-9]\d*\D*$/.test(text.slice(0, 100))
