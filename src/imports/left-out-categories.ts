import { foldName } from "./categories.ts"
import { fitOf } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { type Column, threeRows } from "./price-columns.ts"

const isNamed = (cell: string) => /[^\d\s.,;|]/.test(cell)

/** Columns of categories that are neither imported nor suggested, and have others than the one that is. */
export const leftOutCategories = (
  columns: ReadonlyArray<Column & { readonly plain: string }>,
  category: Column | undefined,
  entryOf: (at: number) => string
): ReadonlyArray<Warning> =>
  columns.flatMap(({ cells = [], name, plain }): ReadonlyArray<Warning> => {
    const filled = cells.filter((cell) => cell !== "")
    if (fitOf("category", plain) === undefined || filled.length === 0) return []
    const warn = (why: string) => [{
      type: "field_skipped" as const,
      context: `column ${name}`,
      message: `column ${name} was left out${why}`
    }]
    if (!filled.some(isNamed)) return category === undefined ? warn(": it has numbers, and no names of categories") : []
    const rows = cells.flatMap((cell, at) =>
      cell !== "" && foldName(cell) !== foldName(category?.cells?.[at] ?? "") ? [at] : []
    )
    if (category === undefined || rows.length === 0) return []
    const told = threeRows([category, { name, cells }], rows, entryOf)
    return warn(` and has other categories than ${category.name}: ${told}; an item has one category`)
  })
