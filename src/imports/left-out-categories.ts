import { foldName } from "./categories.ts"
import { isCategoryName } from "./category-columns.ts"
import { leftOut } from "./columns.ts"
import { fitOf } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { type Column, type PriceColumn, threeRows } from "./price-columns.ts"

/** Columns of categories that are neither imported nor suggested, and have others than the one that is. */
export const leftOutCategories = (
  columns: ReadonlyArray<PriceColumn>,
  category: Column | undefined,
  entryOf: (at: number) => string
): ReadonlyArray<Warning> =>
  columns.flatMap((column) => {
    const { cells, name, plain } = column
    const filled = cells.filter((cell) => cell !== "")
    if (fitOf("category", plain) === undefined || filled.length === 0) return []
    if (category === undefined) {
      return filled.some(isCategoryName) ? [] : [leftOut(name, ": it has numbers, and no names of categories")]
    }
    const rows = cells.flatMap((cell, at) =>
      cell !== "" && foldName(cell) !== foldName(category.cells[at] ?? "") ? [at] : []
    )
    if (rows.length === 0 || !filled.some(isCategoryName)) return []
    const told = threeRows([category, column], rows, entryOf)
    return [leftOut(name, ` and has other categories than ${category.name}: ${told}; an item has one category`)]
  })
