import { type Reading } from "#src/imports/plan.ts"
import { Either } from "effect"
import { readFile } from "../support/read-file.ts"
import { type Expected, type Export } from "./export.ts"

export interface Verdict {
  readonly title: string
  readonly isAsExpected: boolean
  /** Items that are in the catalog and not expected, or the other way round. */
  readonly differences: ReadonlyArray<string>
  /** Whether the warning that must tell them is there. */
  readonly isTold: boolean
  readonly messages: ReadonlyArray<string>
}

/** Reads as an owner does who takes what is suggested. */
const readAsSuggested = (bytes: Uint8Array) => {
  const first = readFile("export.csv", bytes)
  const mappings = Either.isRight(first) ? first.right.suggestion.mappings : first.left.choice?.suggestion.mappings
  return mappings === undefined || Object.keys(mappings).length === 0 ? first : readFile("export.csv", bytes, mappings)
}

const line = ({ category, description, name, price, priceType = "fixed" }: Expected) =>
  JSON.stringify([name, price, priceType, category, description])

/** Of what customers see. */
const linesOf = ({ plan }: Reading) =>
  plan.items.filter(({ isAvailable = true }) => isAvailable).map((
    { category, description, name, priceCents, priceType }
  ) => line({ name, description, price: priceCents, priceType, category: category ?? "" }))

export const judge = ({ bytes, expected, title, warning }: Export): Verdict => {
  const result = readAsSuggested(bytes)
  if (Either.isLeft(result)) {
    return { title, isAsExpected: false, differences: [], isTold: false, messages: [result.left.message] }
  }
  const [actual, wanted] = [linesOf(result.right), expected.map(line)]
  const differences = [
    ...actual.filter((item) => !wanted.includes(item)).map((item) => `+ ${item}`),
    ...wanted.filter((item) => !actual.includes(item)).map((item) => `- ${item}`)
  ]
  const messages = result.right.warnings.map(({ message }) => message)
  const isTold = warning !== undefined && messages.some((message) => warning.test(message))
  const isAsExpected = differences.length === 0 && actual.length === wanted.length
  return { title, isAsExpected, differences, isTold, messages }
}
