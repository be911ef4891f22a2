import { Either } from "effect"
import { excerpt } from "./cleaning.ts"
import { foreignByColumn, foreignByName, inCurrency, isCurrencyColumn } from "./currency.ts"
import { type Decoded } from "./decode.ts"
import { Draft } from "./Draft.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { markingIn, markingsOf } from "./hidden-rows.ts"
import { type Fields, isFields, mostUnmapped, own, Unmapped } from "./json-fields.ts"
import { bare, examineKeys, hasPricesIn, type Keys, keysOf, keyWarnings, MappedKeys } from "./json-keys.ts"
import { walkJson } from "./json-walk.ts"
import { lossOf } from "./losses.ts"
import { asArgument, type Mappings } from "./Mappings.ts"
import { planBusiness } from "./plan-business.ts"
import { type Fault, fault, mostWarnings, type PlannedBusiness, type Reading } from "./plan.ts"
import { priceOfCents } from "./price-cents.ts"
import { numberPrice, type WrittenPrice } from "./price-words.ts"
import { RowLines } from "./row-lines.ts"
import { cellOf, orSeveral, priceBeside, pricesBeside } from "./several-prices.ts"
import { withVariation } from "./variation.ts"

/** Larger than any real item, and small enough to be parsed at once. */
const mostItemBytes = 64 * 1024
const mostBusinessBytes = 256 * 1024

/** So many items say what a key holds. */
const mostSeen = 1000

interface Span {
  readonly start: number
  readonly end: number
}

/** Why the item's price can't be imported: by the key that has it, or a key for the currency beside it. */
const foreignIn = (fields: Fields, { ignored, ofField }: Keys) => {
  const byName = foreignByName(ofField.price ?? "")
  if (byName !== undefined) return byName
  const key = Object.keys(fields).slice(0, mostUnmapped).find((name) =>
    isCurrencyColumn(name) && !ignored.includes(name)
  )
  return key === undefined ? undefined : foreignByColumn(excerpt(key), fields[key])
}

const addItem = (draft: Draft, unmapped: Unmapped, lines: RowLines, keys: Keys, value: unknown) => {
  const { inCents, known, ofField, variation } = keys
  const number = draft.rows
  const place = `catalog_items[${number}]`
  if (!isFields(value)) {
    draft.rows++
    return draft.warn("format_error", place, `is not an object but ${excerpt(JSON.stringify(value))}; skipped`)
  }
  draft.see(Object.values(value), place)
  const at = (field: ItemField) => {
    const key = ofField[field]
    return key === undefined ? undefined : own(value, key)
  }
  for (const field of itemFields) {
    const key = ofField[field]
    if (key !== undefined && Object.hasOwn(value, key)) draft.map(`catalog_items[].${key}`, field, value[key])
  }
  const [names, values] = [Object.keys(value), Object.values(value)]
  const markings = markingsOf(names).filter(({ at }) => !known.includes(names[at]!))
  // Each item may spell its keys in its own way.
  if (markings.length > 0 && draft.mappings.length < mostUnmapped) {
    for (const { at, name } of markings) draft.map(`catalog_items[].${name}`, "is_available", values[at])
  }
  const taken = [...known, ...markings.map(({ at }) => names[at]!)]
  unmapped.add(value, taken, "catalog_items[].")
  const marking = markingIn(values, markings)
  const amount = at("price") ?? null
  const written: Either.Either<WrittenPrice, string> = inCents
    ? Either.map(priceOfCents(amount), (cents) => ({ cents }))
    : numberPrice(amount)
  const price = amount === null ? null : inCurrency(orSeveral(cellOf(amount))(written), foreignIn(value, keys))
  const others = names.flatMap((name, at) => taken.includes(name) ? [] : [{ name, value: values[at] }])
  const beside = pricesBeside(others, price)
  const added = draft.add({
    ...(marking === undefined ? {} : { isAvailable: false }),
    price: priceBeside(price, beside),
    priceValue: amount,
    text: {
      name: withVariation(at("name"), variation === undefined ? undefined : own(value, variation)),
      description: at("description"),
      price_type: at("price_type"),
      item_type: at("item_type"),
      category: at("category")
    }
  }, { entry: place, of: (field) => `${place}.${field}` })
  if (added === undefined) return
  if (marking !== undefined) lines.note("hidden", number, marking)
  if (beside !== undefined) lines.noteList(number, draft.items[added]?.name ?? "", beside)
}

/** Reads a JSON import (contract: Import, JSON). */
export const parseJson = ({ encoding, isGuess, utf8 }: Decoded, mappings: Mappings): Either.Either<Reading, Fault> => {
  const keys = keysOf(mappings)
  const rootFields = ["version", "business", keys.list]
  const mapped = new MappedKeys(mappings)
  const draft = new Draft()
  if (isGuess) draft.guessed(encoding)
  const unmapped = new Unmapped()
  const lines = new RowLines("json")
  const seen: Array<Fields> = []
  const spans = new Map<string, Span>()
  const begun = new Set<string>()
  const parsed = ({ end, start }: Span): unknown => JSON.parse(utf8.toString("utf8", start, end))

  const problem = walkJson(utf8, keys.list, {
    begin: (key) => {
      if (begun.has(key) && rootFields.includes(key)) return `has ${key} twice`
      if (begun.size < mostUnmapped) begun.add(key)
      return undefined
    },
    member: (key, start, end) => void (rootFields.includes(key) && spans.set(key, { start, end })),
    element: (start, end) => {
      if (draft.isFull) return draft.count()
      const item = end - start > mostItemBytes ? undefined : parsed({ start, end })
      const fields = isFields(item) ? item : {}
      mapped.see(fields, true)
      if (seen.length < mostSeen) seen.push(fields)
      if (item !== undefined) return addItem(draft, unmapped, lines, keys, item)
      draft.warn("format_error", `catalog_items[${draft.rows++}]`, "is larger than 64 KiB; skipped")
    }
  })
  if (problem !== undefined) return fault("file", problem)
  const first = utf8.toString("utf8", 0, 100).trimStart()[0]
  if (first !== "{" && first !== "[") return fault("file", "must be a JSON object, or a list of items")
  const root = Object.fromEntries([...begun].map((key) => [key, 0]))
  unmapped.add(root, [...rootFields, ...keys.known], "")
  mapped.see(root, false)
  if (mapped.fault !== undefined) return Either.left(mapped.fault)

  const readingOf = (business: PlannedBusiness | null): Reading => {
    // Without a name there are no items yet, and what the key has in it must do.
    const hasPrices = draft.items.length === 0
      ? hasPricesIn(seen, keys)
      : draft.items.some(({ priceCents }) => priceCents !== null && priceCents > 0)
    const filled = new Set(draft.mappings.map(({ target_field }) => target_field))
    const missing = itemFields.filter((field) => !filled.has(field) || field === "price" && !hasPrices)
    const { leftOut, suggestion } = examineKeys(unmapped.names, keys, seen, missing)
    const hints = [
      ...leftOut.warnings,
      ...keyWarnings(unmapped.names, suggestion, leftOut.warnings),
      ...lines.warnings
    ]
    return {
      format: "ezforge_json",
      encoding,
      delimiter: null,
      plan: { business, items: draft.items },
      mappings: draft.mappings,
      unmapped: unmapped.names,
      suggestion,
      warnings: [...hints, ...draft.warnings].slice(0, mostWarnings),
      warningsTotal: draft.warningsTotal + hints.length,
      rows: draft.rows,
      loss: lossOf(draft, {
        ...leftOut,
        lost: lines.lost,
        suggestion,
        price: keys.ofField.price ?? "price",
        advice: "Write each as a number of US dollars without quotes, such as 5.00"
      })
    }
  }
  if (first === "[") {
    draft.finish("catalog_items")
    const reading = readingOf(null)
    if (draft.items.length > 0) return Either.right(reading)
    const { suggestion, unmapped } = reading
    const hint = Object.keys(suggestion.mappings).length === 0
      ? ""
      : `. If these are right, pass ${asArgument(suggestion.mappings)}`
    const choice = unmapped.length === 0 ? undefined : { columns: unmapped.map(bare), suggestion }
    return fault("file", `has no item that can be imported${draft.reasons}${hint}`, choice)
  }
  const version = spans.get("version")
  if (version === undefined || version.end - version.start > 100 || parsed(version) !== "1.0") {
    return fault(
      "version",
      "must be \"1.0\". A file without it is an array of items, each with its category: [{…}, {…}]"
    )
  }
  const span = spans.get("business")
  if (span !== undefined && span.end - span.start > mostBusinessBytes) {
    return fault("business", "is larger than 256 KiB")
  }
  const business = span === undefined ? undefined : parsed(span)
  if (!isFields(business)) return fault("business", span === undefined ? "is missing" : "must be an object")
  const list = spans.get(keys.list)
  if (list !== undefined && utf8[list.start] !== 0x5b) {
    draft.warn("format_error", "catalog_items", "is not a list; skipped")
  }
  draft.finish("catalog_items")
  return Either.map(planBusiness(business, draft, unmapped), readingOf)
}
