import { Either } from "effect"
import { type Price, priceOfNumber } from "./price.ts"

/** A price in whole cents, of a cell or a JSON number. */
export const priceOfCents = (value: unknown): Price => {
  const cents = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value
  return typeof cents === "number" && (Number.isInteger(cents) || cents < 0)
    ? priceOfNumber(cents / 100)
    : Either.left("is not a number of whole cents")
}
