import { mostCategories, mostItems } from "#src/businesses/Catalog.ts"
import { type Warning } from "./Import.ts"
import { categoriesOf, type Plan } from "./plan.ts"

/** A catalog as it is before an import. */
export interface CatalogSize {
  readonly items: number
  readonly categories: number
  /** Of the categories that the import names, those that it has. */
  readonly known: ReadonlySet<string>
}

const truncated = (message: string): Warning => ({ type: "limit_truncated", message, context: "catalog" })

/**
 * What of a plan there is room for, in the file's order, and what is dropped: a preview promises no more than a confirm
 * will do. Items whose category has no room are imported without one.
 */
export const fitted = (plan: Plan, { categories, items, known }: CatalogSize) => {
  const taken = plan.items.slice(0, Math.max(0, mostItems - items))
  const wanted = categoriesOf({ ...plan, items: taken })
  const missing = wanted.filter((name) => !known.has(name))
  const created = missing.slice(0, Math.max(0, mostCategories - categories))
  const kept = new Set([...known, ...created])
  const dropped = { items: plan.items.length - taken.length, categories: missing.length - created.length }
  return {
    plan: {
      ...plan,
      items: dropped.categories === 0
        ? taken
        : taken.map((item) => item.category === null || kept.has(item.category) ? item : { ...item, category: null })
    } satisfies Plan,
    created,
    warnings: [
      ...(dropped.items === 0 ? [] : [
        truncated(
          `catalog holds ${mostItems} items at most: the first ${taken.length} of the file fit, ${dropped.items} were dropped`
        )
      ]),
      ...(dropped.categories === 0 ? [] : [
        truncated(
          `catalog holds ${mostCategories} categories at most: the first ${created.length} new ones of the file fit, ` +
            `${dropped.categories} were dropped, and their items have none`
        )
      ])
    ]
  }
}
