import { Either } from "effect"
import { type Decoded } from "./decode.ts"
import { isFields, mostUnmapped, own, Unmapped } from "./json-fields.ts"
import { walkJson } from "./json-walk.ts"
import { planBusiness } from "./plan-business.ts"
import { Draft, type Fault, fault, itemFields, type PlannedBusiness, type Reading } from "./plan.ts"
import { priceOfNumber } from "./price.ts"

/** Larger than any real item, and small enough to be parsed at once. */
const mostItemBytes = 64 * 1024
const mostBusinessBytes = 256 * 1024

interface Span {
  readonly start: number
  readonly end: number
}

const addItem = (draft: Draft, unmapped: Unmapped, value: unknown) => {
  const place = `catalog_items[${draft.rows}]`
  const skip = (message: string) => {
    draft.rows++
    draft.warn("format_error", place, `${message}; skipped`)
  }
  if (!isFields(value)) return skip("is not an object")
  for (const field of itemFields) {
    if (Object.hasOwn(value, field)) draft.map(`catalog_items[].${field}`, field, value[field])
  }
  unmapped.add(value, itemFields, "catalog_items[].")
  const price = own(value, "price") ?? null
  draft.add({
    price: price === null ? null : priceOfNumber(price),
    text: {
      name: own(value, "name"),
      description: own(value, "description"),
      price_type: own(value, "price_type"),
      item_type: own(value, "item_type"),
      category: own(value, "category")
    }
  }, (field) => field === undefined ? place : `${place}.${field}`)
}

const rootFields = ["version", "business", "catalog_items"]

/** Reads a JSON import (contract: Import, JSON). */
export function* parseJson({ encoding, utf8 }: Decoded): Generator<void, Either.Either<Reading, Fault>> {
  const draft = new Draft()
  const unmapped = new Unmapped()
  const spans = new Map<string, Span>()
  const begun = new Set<string>()
  const parsed = ({ end, start }: Span): unknown => JSON.parse(utf8.toString("utf8", start, end))

  const problem = yield* walkJson(utf8, "catalog_items", {
    begin: (key) => {
      if (begun.has(key) && rootFields.includes(key)) return `has ${key} twice`
      if (begun.size < mostUnmapped) begun.add(key)
      return undefined
    },
    member: (key, start, end) => void (rootFields.includes(key) && spans.set(key, { start, end })),
    element: (start, end) => {
      if (draft.isFull) return draft.count()
      if (end - start <= mostItemBytes) return addItem(draft, unmapped, parsed({ start, end }))
      draft.warn("format_error", `catalog_items[${draft.rows++}]`, "is larger than 64 KiB; skipped")
    }
  })
  if (problem !== undefined) return fault("file", problem)
  if (!/^\s*\{/.test(utf8.toString("utf8", 0, 100))) return fault("file", "must be a JSON object")
  unmapped.add(Object.fromEntries([...begun].map((key) => [key, 0])), rootFields, "")

  const version = spans.get("version")
  if (version === undefined || version.end - version.start > 100 || parsed(version) !== "1.0") {
    return fault("version", "must be \"1.0\"")
  }
  const span = spans.get("business")
  if (span !== undefined && span.end - span.start > mostBusinessBytes) {
    return fault("business", "is larger than 256 KiB")
  }
  const business = span === undefined ? undefined : parsed(span)
  if (!isFields(business)) return fault("business", span === undefined ? "is missing" : "must be an object")
  const list = spans.get("catalog_items")
  if (list !== undefined && utf8[list.start] !== 0x5b) {
    draft.warn("format_error", "catalog_items", "is not a list; skipped")
  }
  draft.finish("catalog_items")
  return Either.map(planBusiness(business, draft, unmapped), (business: PlannedBusiness): Reading => ({
    format: "ezforge_json",
    encoding,
    delimiter: null,
    plan: { business, items: draft.items },
    mappings: draft.mappings,
    unmapped: unmapped.names,
    warnings: draft.warnings,
    warningsTotal: draft.warningsTotal,
    rows: draft.rows
  }))
}
