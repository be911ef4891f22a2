import { foldName } from "./categories.ts"
import { excerpt } from "./cleaning.ts"
import { type PlannedItem } from "./plan.ts"

/** What is imported as the file has it, but is worth a look. */
export interface Oddity {
  readonly context: string
  readonly label: string
  readonly why: string
}

const total = /^(?:(?:grand|sub)[\s-]?)?totals?\b[^a-z]*$|^(?:sum|summe|gesamt|gesamtsumme|totale|suma)\b[^a-z]*$/i

/** Finds rows that are probably no items: totals, headings of sections, doubles. */
export class Oddities {
  /** The entries of each name within its category. */
  readonly #entries = new Map<string, { readonly name: string; readonly entries: Array<string> }>()
  #heading: { readonly name: string; readonly entry: string } | undefined
  /** Categories in the file's order, each time one begins, and how many items after one have none. */
  readonly #begun: Array<string> = []
  #without = 0

  /** The oddities that an item shows. `isBare`: its row has a name and nothing else. */
  of({ category, name, priceCents }: PlannedItem, entry: string, isBare: boolean): ReadonlyArray<Oddity> {
    const odd: Array<Oddity> = []
    const label = `${entry}, "${excerpt(name)}":`
    const tell = (why: string) => odd.push({ context: entry, label, why })
    if (total.test(name)) tell("looks like a total and not like an item; it was imported")
    const key = `${foldName(category ?? "")}\n${foldName(name)}`
    const same = this.#entries.get(key)
    if (same === undefined) this.#entries.set(key, { name, entries: [entry] })
    else same.entries.push(entry)
    if (this.#heading !== undefined && !isBare && priceCents !== null) {
      odd.push({
        context: this.#heading.entry,
        label: `${this.#heading.entry}, "${excerpt(this.#heading.name)}":`,
        why: "has a name and nothing else, like the heading of a section; it was imported as an item"
      })
    }
    this.#heading = isBare ? { name, entry } : undefined
    if (category === null) this.#without++
    else this.#begun.push(category)
    return odd
  }

  /** What shows only when all items are known. */
  atEnd(): ReadonlyArray<Oddity> {
    return [...this.#doubles(), ...this.#mergedCategories()]
  }

  #doubles() {
    return [...this.#entries.values()].flatMap(({ entries: [first = "", ...others], name }): Array<Oddity> => {
      const [second] = others
      if (second === undefined) return []
      const more = others.length > 5 ? ` and ${others.length - 5} more` : ""
      const verb = others.length === 1 ? "has" : "have"
      const why = `${verb} the name of ${first}, "${excerpt(name)}", in the same category; all were imported`
      return [{ context: second, label: `${others.slice(0, 5).join(", ")}${more}`, why }]
    })
  }

  /** Categories that are written once, above their items, as in merged cells. */
  #mergedCategories(): ReadonlyArray<Oddity> {
    const isOnce = this.#begun.length > 1 && new Set(this.#begun).size === this.#begun.length
    if (!isOnce || this.#without < this.#begun.length) return []
    const named = this.#begun.slice(0, 3).map((category) => `"${excerpt(category)}"`).join(", ")
    const why = `has each category once (${named}), and ${this.#without} items without one; write it in each row`
    return [{ context: "file", label: "file", why }]
  }
}
