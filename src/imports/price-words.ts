import { Either } from "effect"
import { type Decimal, losesDigits, priceOfNumber, priceOfText } from "./price.ts"

/** A price as an owner writes it: in cents, with the price type that its words name. */
export interface WrittenPrice {
  readonly cents: number | null
  readonly priceType?: "starting_at" | "hourly" | "free_estimate"
  /** What the caller is told, where the cell has more than an amount. */
  readonly remark?: string
  /** Costs nothing, which is an estimate's price or an item's. */
  readonly free?: true
}

const mostWords = 60
const free = /^(?:free(?: of charge)?|no charge|complimentary|gratis)[.!]?$/i
const freeEstimate = /^free (?:estimates?|quotes?|consultations?|assessments?)[.!]?$/i
const fewCents = /^(\d{1,4})\s*(?:¢|cents?)$/i
const hourly = /^(.+?)\s*(?:(?:\/|per|an|a)\s*(?:hr|hour|h)\.?|hourly)$/i
const unit = /^(.+?)\s*((?:\/|per\s)\s*[\p{L} .]{1,20}|each|ea\.?|pp)$/iu
const from = /^(?:from|starting (?:at|from)|starts at|as low as)\s+(.+)$/i
const andUp = /^(.+?)\s*(?:\+|and up|& up|or more)$/i
const range = /^(.+?)\s*(?:-|–|—|\bto\b)\s*(.+)$/i

const dollars = (cents: number) => (cents / 100).toFixed(2)

/** The amount at the start of a phrase: itself, or the lower end of a range. */
const lowest = (text: string, decimal: Decimal): Either.Either<{ cents: number; isRange: boolean }, string> => {
  const amount = priceOfText(text, decimal)
  if (Either.isRight(amount)) return Either.right({ cents: amount.right, isRange: false })
  const ends = range.exec(text)
  if (ends === null) return Either.left(amount.left)
  const [low, high] = [priceOfText(ends[1] ?? "", decimal), priceOfText(ends[2] ?? "", decimal)]
  return Either.isRight(low) && Either.isRight(high)
    ? Either.right({ cents: Math.min(low.right, high.right), isRange: true })
    : Either.left(amount.left)
}

const phrase = (text: string, decimal: Decimal): WrittenPrice | undefined => {
  const perHour = hourly.exec(text)
  const perUnit = perHour === null ? unit.exec(text) : null
  const rest = perHour?.[1] ?? perUnit?.[1] ?? text
  const least = from.exec(rest) ?? andUp.exec(rest)
  const amount = lowest(least?.[1] ?? rest, decimal)
  if (Either.isLeft(amount)) return undefined
  const { cents, isRange } = amount.right
  const priceType = perHour !== null ? "hourly" : least !== null || isRange ? "starting_at" : undefined
  const dropped = perUnit === null ? "" : `; "${perUnit[2]}" was left out`
  const lower = isRange ? ", the lower end" : ""
  return {
    cents,
    ...(priceType === undefined ? {} : { priceType }),
    remark: `was read as ${dollars(cents)}${lower}${dropped}`
  }
}

/** Reads a price cell: an amount, or one of the phrases in which owners write prices. */
export const writtenPrice = (text: string, decimal: Decimal): Either.Either<WrittenPrice, string> => {
  const amount = priceOfText(text, decimal)
  if (Either.isRight(amount)) {
    const cents = amount.right
    return Either.right(losesDigits(text) ? { cents, remark: `was rounded to ${dollars(cents)}` } : { cents })
  }
  const words = text.trim()
  if (words.length > mostWords || amount.left === "is negative") return Either.left(amount.left)
  const [, few] = fewCents.exec(words) ?? []
  if (few !== undefined) return Either.right({ cents: Number(few), remark: `was read as ${dollars(Number(few))}` })
  if (free.test(words)) return Either.right({ cents: 0, free: true, remark: "was read as 0.00" })
  if (freeEstimate.test(words)) {
    return Either.right({ cents: null, priceType: "free_estimate", remark: "was read as no price" })
  }
  return Either.fromNullable(phrase(words, decimal), () => amount.left)
}

/** Reads a JSON price. */
export const numberPrice = (value: unknown): Either.Either<WrittenPrice, string> =>
  Either.map(priceOfNumber(value), (cents) =>
    // Beyond the error of a binary fraction.
    Math.abs(Number(value) * 100 - cents) < 1e-4 ? { cents } : { cents, remark: `was rounded to ${dollars(cents)}` })
