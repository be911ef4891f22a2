import { mostCategories, mostItems } from "#src/businesses/Catalog.ts"
import { type Warning } from "./Import.ts"
import { categoriesOf, type Plan } from "./plan.ts"

/** A catalog before an import. */
export interface CatalogSize {
  readonly items: number
  readonly categories: number
  /** The import's categories that the catalog has already. */
  readonly existingCategories: ReadonlySet<string>
}

const truncated = (message: string): Warning => ({ type: "limit_truncated", message, context: "catalog" })

/**
 * Truncates a plan to the catalog's limits, in the file's order, so that a preview promises no more than a confirm
 * will do. Items whose category doesn't fit are imported without one.
 */
export const fitToLimits = (plan: Plan, { categories, existingCategories, items }: CatalogSize) => {
  const fitting = plan.items.slice(0, Math.max(0, mostItems - items))
  const named = categoriesOf({ ...plan, items: fitting })
  const missing = named.filter((name) => !existingCategories.has(name))
  const created = missing.slice(0, Math.max(0, mostCategories - categories))
  const available = new Set([...existingCategories, ...created])
  const dropped = { items: plan.items.length - fitting.length, categories: missing.length - created.length }
  return {
    plan: {
      ...plan,
      items: dropped.categories === 0
        ? fitting
        : fitting.map((item) =>
          item.category === null || available.has(item.category) ? item : { ...item, category: null }
        )
    } satisfies Plan,
    created,
    warnings: [
      ...(dropped.items === 0 ? [] : [
        truncated(
          `catalog holds ${mostItems} items at most: the first ${fitting.length} of the file fit, ` +
            `${dropped.items} were dropped`
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
