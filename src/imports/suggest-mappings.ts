import { recognisePreset } from "./export-presets.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { fitOf, isCents, isForeignMoney, isPriceOfSize, looksLikeMoney, plainHeader } from "./header-words.ts"
import { type Suggestion, type Target } from "./Mappings.ts"
import { isVariation } from "./variation.ts"

/** A column that is not imported. */
export interface Candidate {
  readonly name: string
  /** Some of its cells. */
  readonly samples?: ReadonlyArray<string>
}

interface Plain extends Candidate {
  readonly plain: string
}

/** How well a column fits, smaller is better; undefined when it doesn't. */
type Fit = (candidate: Plain) => number | undefined

/** The best of the columns; of two that fit alike, the first in the file. */
const bestOf = (candidates: ReadonlyArray<Plain>, fit: Fit) => {
  let best: { readonly name: string; readonly rank: number } | undefined
  for (const candidate of candidates) {
    const rank = fit(candidate)
    if (rank !== undefined && (best === undefined || rank < best.rank)) best = { name: candidate.name, rank }
  }
  return best?.name
}

const placeIn = (names: ReadonlyArray<string> = []): Fit => ({ plain }) => {
  const place = names.indexOf(plain)
  return place < 0 ? undefined : place
}
const inCents: Fit = ({ plain }) => isCents(plain) && !isForeignMoney(plain) ? 0 : undefined
const withMoney: Fit = ({ plain, samples = [] }) =>
  (looksLikeMoney(samples) || isPriceOfSize(plain, samples)) && !isForeignMoney(plain) ? 0 : undefined

/**
 * Suggests which of the columns that are not imported hold the fields that no column has yet. `headers` are all of the
 * file's, by which the program that wrote it is recognised. No column and no field is suggested twice.
 */
export const suggestMappings = (
  headers: ReadonlyArray<string>,
  candidates: ReadonlyArray<Candidate>,
  missing: ReadonlyArray<ItemField>
): Suggestion => {
  const preset = recognisePreset(headers)
  const columns = candidates.map((candidate) => ({ ...candidate, plain: plainHeader(candidate.name) }))
  const chosen = new Map<string, Target>()
  const open = new Set(itemFields.filter((field) => missing.includes(field)))
  const choose = (field: ItemField, fit: Fit, target: Target = field) => {
    const name = open.has(field) ? bestOf(columns.filter(({ name }) => !chosen.has(name)), fit) : undefined
    if (name === undefined) return
    chosen.set(name, target)
    open.delete(field)
  }
  for (const field of itemFields) choose(field, placeIn(preset?.fields[field]))
  // Before the synonyms: priceCents is not a price in dollars.
  choose("price", inCents, "price_cents")
  for (const field of itemFields) choose(field, ({ plain }) => isCents(plain) ? undefined : fitOf(field, plain))
  choose("price", withMoney)
  const variation = columns.find(({ plain, samples = [] }) => plain === preset?.variation && samples.some(isVariation))
  if (variation !== undefined) chosen.set(variation.name, "variation")
  return { program: preset?.program ?? null, mappings: Object.fromEntries(chosen) }
}
