import { Either } from "effect"
import { Categories } from "./categories.ts"
import { cleanLine, cleanProse, excerpt, longest, tooLong } from "./cleaning.ts"
import { type ItemField } from "./fields.ts"
import { type FieldMapping, limits, type Warning } from "./Import.ts"
import { Oddities, type Oddity } from "./oddities.ts"
import { itemTypes, mostRows, mostWarnings, type Place, type PlannedItem, priceTypes, type RawItem } from "./plan.ts"
import { type WrittenPrice } from "./price-words.ts"

/** A value for a message: text in quotes, anything else as its JSON. */
const shown = (value: unknown) => typeof value === "string" ? `"${excerpt(value)}"` : excerpt(JSON.stringify(value))

const notAscii = /[^\u0000-\u007f]/

/** Names of items that "Free" makes an estimate rather than a gift. */
const estimated = /\b(?:estimates?|quotes?|consultations?|consult|assessments?|site visits?|inspections?)\b/i

/** Where a value stands: `row 2, column price`, and how a message begins: `row 2, "Soup": price`. */
interface Spot {
  readonly context: string
  readonly label: string
}

/** Collects items, warnings and mappings while a file is parsed. */
export class Draft {
  readonly items: Array<PlannedItem> = []
  readonly warnings: Array<Warning> = []
  warningsTotal = 0
  rows = 0
  /** Prices that can't be read, of those with a digit, and what was wrong with the first. */
  unread: { readonly count: number; readonly first?: string } = { count: 0 }
  readonly #choiceOf: (value: unknown) => unknown
  #uncounted = 0
  #guess: string | undefined
  #hasHtml = false
  readonly #mappings = new Map<string, FieldMapping>()
  readonly #oddities = new Oddities()
  readonly #categories = new Categories()

  /** `choiceOf` turns a value into the word of an enum that it means. */
  constructor(choiceOf: (value: unknown) => unknown = (value) => value) {
    this.#choiceOf = choiceOf
  }

  /** The message is the label, then `why`. */
  warn(type: Warning["type"], context: string, why: string, label = context) {
    this.warningsTotal++
    if (this.warnings.length < mostWarnings) this.warnings.push({ type, message: `${label} ${why}`, context })
  }

  /** The encoding was guessed: the first text that would be wrong is shown, once, before the other warnings. */
  guessed(encoding: string) {
    this.#guess = encoding
  }

  /** Cells or fields of an entry, of which one may show whether the guess was right. */
  see(values: ReadonlyArray<unknown>, entry: string) {
    if (this.#guess === undefined) return
    const text = values.find((value) => typeof value === "string" && notAscii.test(value))
    if (text !== undefined) this.#tellOfGuess(`; check ${shown(text)} in ${entry}`)
  }

  /** Told once, for the first description in HTML. */
  seeHtml(html: string, entry: string, context: string) {
    if (this.#hasHtml) return
    this.#hasHtml = true
    const why = "is HTML: its text was imported without tags, as in other rows"
    this.warn("value_coerced", context, `${shown(html)} ${why}`, `${entry}: description`)
  }

  #tellOfGuess(example: string) {
    if (this.#guess === undefined) return
    const message = `file is not in UTF-8 and was read as ${this.#guess}${example}`
    this.#guess = undefined
    this.warningsTotal++
    this.warnings.unshift({ type: "value_coerced", message, context: "file" })
    this.warnings.splice(mostWarnings)
  }

  /** Why nothing could be imported, for the error: the first warnings. */
  get reasons() {
    const first = this.warnings.filter(({ type }) => type === "format_error").slice(0, 3)
    const others = this.warningsTotal - first.length
    return first.length === 0
      ? ""
      : `: ${first.map(({ message }) => message).join("; ")}${others > 0 ? `; and ${others} more` : ""}`
  }

  #tellOf(oddities: ReadonlyArray<Oddity>) {
    for (const { context, label, why } of oddities) this.warn("value_coerced", context, why, label)
  }

  /** Maps a field of the file to its target, with the first value as the sample. */
  map(source: string, target: string, sample?: unknown) {
    const existing = this.#mappings.get(source)
    if (existing?.sample_value !== undefined) return
    const text = typeof sample === "string" || typeof sample === "number" ? excerpt(String(sample)) : ""
    const mapping = { source_field: source, target_field: target }
    this.#mappings.set(source, text === "" ? mapping : { ...mapping, sample_value: text })
  }

  get mappings() {
    return [...this.#mappings.values()]
  }

  /** Whether further rows are only counted. */
  get isFull() {
    return this.items.length >= limits.items || this.rows >= mostRows
  }

  /** Counts entries beyond the limits. */
  count(entries = 1) {
    this.#uncounted += entries
    this.rows += entries
  }

  /** Warnings that need all entries, and one for those that were only counted. */
  finish(context: string) {
    this.#tellOfGuess("")
    this.#tellOf(this.#oddities.atEnd())
    if (this.#uncounted === 0) return
    const why = this.items.length >= limits.items
      ? `has more than ${limits.items} items; the ${this.#uncounted} after those were dropped`
      : `has more entries than the limit; ${this.#uncounted} were left out`
    this.warn("limit_truncated", context, why)
  }

  /** One cleaned line; undefined when it is missing, or unusable, then with a warning. */
  line(value: unknown, where: string, most: number = longest.name): string | undefined {
    return this.#text(value, { context: where, label: where }, most, cleanLine)
  }

  prose(value: unknown, where: string): string | undefined {
    return this.#text(value, { context: where, label: where }, longest.prose, cleanProse)
  }

  #text(value: unknown, { context, label }: Spot, most: number, clean: typeof cleanLine) {
    if (value === undefined || value === null) return undefined
    const skip = (why: string) => {
      this.warn("field_skipped", context, `${shown(value)} ${why}; skipped`, label)
      return undefined
    }
    if (typeof value !== "string") return skip("is not text")
    const { changed, text } = clean(value)
    if (text === "") return undefined
    if (tooLong(text, most)) return skip(`is longer than ${most} characters`)
    this.#tellOfDamage({ context, label }, text, changed)
    return text
  }

  /** Characters that were removed, or lost before: U+FFFD stands for bytes that no encoding has. */
  #tellOfDamage({ context, label }: Spot, text: string, changed: boolean) {
    const why = changed
      ? "had characters that can't be stored; they were removed"
      : text.includes("\ufffd")
      ? "has characters that can't be read; each shows as \ufffd"
      : undefined
    if (why !== undefined) this.warn("value_coerced", context, `${shown(text)} ${why}`, label)
  }

  #choice<const Choice extends string>(value: unknown, spot: Spot, choices: ReadonlyArray<Choice>, usual: Choice) {
    if (value === undefined || value === null || value === "") return usual
    const word = this.#choiceOf(value)
    const match = choices.find((choice) => choice === word)
    if (match !== undefined || word === "") return match ?? usual
    const why = `${shown(value)} is not one of ${choices.join(", ")}; ${usual} was used`
    this.warn("value_coerced", spot.context, why, spot.label)
    return usual
  }

  /** The price, and the price type of the item, which the price's own words may name. */
  #price({ price, priceValue, text }: RawItem, spotOf: (field: ItemField) => Spot, itemType: string, name: string) {
    const [spot, typeSpot] = [spotOf("price"), spotOf("price_type")]
    if (price !== null && Either.isLeft(price)) {
      const why = `${shown(priceValue)} ${price.left}`
      const { count, first = `${spot.label} ${why}` } = this.unread
      if (/\d/.test(shown(priceValue))) this.unread = { count: count + 1, first }
      this.warn("field_skipped", spot.context, `${why}; skipped`, spot.label)
    }
    const written: WrittenPrice = price === null ? { cents: null } : Either.getOrElse(price, () => ({ cents: null }))
    const isEstimate = written.free === true &&
      (itemType === "consultation" || itemType === "service" || estimated.test(name))
    const implied = isEstimate ? "free_estimate" : written.priceType
    const stated = this.#choice(text.price_type, typeSpot, priceTypes, implied ?? "fixed")
    // Templates and programs fill in "fixed" everywhere; who writes "from 9" means it.
    const priceType = stated === "fixed" ? written.priceType ?? stated : stated
    if (written.remark !== undefined) {
      const instead = stated === priceType ? "" : ` instead of ${stated}`
      const told = implied === undefined ? "" : `, price_type ${priceType}${instead}`
      const why = `${shown(priceValue)} ${written.remark}${told}`
      this.warn("value_coerced", spot.context, why, spot.label)
    }
    return { priceCents: written.cents, priceType }
  }

  #name(value: unknown, place: Place, rest: string) {
    const { changed, text } = typeof value === "string" ? cleanLine(value) : { changed: false, text: "" }
    const skip = (context: string, why: string) => void this.warn("format_error", context, why, place.entry)
    if (text === "") {
      const others = rest === "" ? "" : `: ${shown(rest)}`
      return typeof value === "string" || value === undefined
        ? skip(place.entry, `has no name; skipped${others}`)
        : skip(place.entry, `has a name that is not text, ${shown(value)}; skipped`)
    }
    if (tooLong(text, longest.name)) {
      const why = `has a name longer than ${longest.name} characters, ${shown(text)}; the item was skipped`
      return skip(place.of("name"), why)
    }
    this.#tellOfDamage({ context: place.of("name"), label: `${place.entry}: name` }, text, changed)
    return text
  }

  /** Changes an item that was added. */
  change(at: number, fields: Partial<PlannedItem>) {
    const item = this.items[at]
    if (item !== undefined) this.items[at] = { ...item, ...fields }
  }

  /** Gives an item that was added another name, unless that is too long. */
  rename(at: number, name: string) {
    const { text } = cleanLine(name)
    if (!tooLong(text, longest.name)) this.change(at, { name: text })
  }

  /** Adds an item to the plan and returns its place, or a warning why it is skipped. */
  add(raw: RawItem, place: Place): number | undefined {
    this.rows++
    const { text } = raw
    const name = this.#name(text.name, place, raw.rest ?? "")
    if (name === undefined) return undefined
    const spotOf = (field: ItemField): Spot => ({
      context: place.of(field),
      label: `${place.entry}, ${shown(name)}: ${field}`
    })
    const description = this.#text(text.description, spotOf("description"), longest.prose, cleanProse) ?? ""
    const itemType = this.#choice(text.item_type, spotOf("item_type"), itemTypes, "product")
    const { priceCents, priceType } = this.#price(raw, spotOf, itemType, name)
    const written = this.#text(text.category, spotOf("category"), longest.name, cleanLine)
    const { category, isOther } = this.#categories.of(written)
    if (isOther) {
      const { context, label } = spotOf("category")
      this.warn("value_coerced", context, `${shown(written)} is taken as ${shown(category)}, as in a row above`, label)
    }
    const availability = raw.isAvailable === false ? { isAvailable: false } : {}
    const item = { name, description, itemType, priceCents, priceType, category, ...availability }
    this.items.push(item)
    this.#tellOf(this.#oddities.of(item, place.entry, raw.rest === ""))
    return this.items.length - 1
  }
}
