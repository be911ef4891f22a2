import { Predicate } from "effect"

/**
 * A JSON value of others whose texts and keys are text (Unicode 3.9, D91): strict parsers refuse a whole document for
 * one lone surrogate (RFC 8259 §8.2). Without keys `__proto__`, which an assignment takes for something else.
 * Recursive: the value must be known not to nest too deep.
 */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  return Predicate.isRecord(value) ? wellFormedFields(value) : value
}

export const wellFormedFields = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).filter(([key]) => key !== "__proto__").map(([key, one]) => [
      key.toWellFormed(),
      wellFormed(one)
    ])
  )
