import { type Plan } from "./plan.ts"

/** One name whatever its case, spacing and form of accents: `Mains` and ` mains `. */
export const foldName = (name: string) => name.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim()

/** The categories of a file, each in the spelling that comes first. */
export class Categories {
  readonly #spellings = new Map<string, string>()
  readonly #others = new Set<string>()

  /** The category that a cell names; `isOther` when it is the first time in a spelling other than the category's. */
  of(written: string | undefined): { readonly category: string | null; readonly isOther: boolean } {
    if (written === undefined) return { category: null, isOther: false }
    const folded = foldName(written)
    const category = this.#spellings.get(folded) ?? written
    this.#spellings.set(folded, category)
    const isOther = category !== written && !this.#others.has(written)
    if (isOther) this.#others.add(written)
    return { category, isOther }
  }
}

/** A plan with its categories as the catalog spells them: `mains` where there are `Mains`. */
export const inSpellingsOf = (existing: ReadonlySet<string>, plan: Plan): Plan => {
  const spellings = new Map([...existing].map((name) => [foldName(name), name]))
  const items = plan.items.map((item) =>
    item.category === null || existing.has(item.category)
      ? item
      : { ...item, category: spellings.get(foldName(item.category)) ?? item.category }
  )
  return { ...plan, items }
}
