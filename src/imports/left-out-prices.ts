import { excerpt } from "./cleaning.ts"
import { leftOut } from "./columns.ts"
import { isCost } from "./cost-words.ts"
import { discounts, isSurcharge, priceKind } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { asArgument } from "./Mappings.ts"
import { conflicts, type PriceColumn, threeRows } from "./price-columns.ts"
import { foreignWhy } from "./price.ts"

interface Source {
  /** The columns that are neither imported nor suggested. */
  readonly others: ReadonlyArray<PriceColumn>
  /** The column that is imported as the price, or suggested as it. */
  readonly price: PriceColumn | undefined
  /** Names of those of which one may be the price. */
  readonly undecided: ReadonlyArray<string>
  /** How a message names a row: `row 3, "Soup":`. */
  readonly entryOf: (at: number) => string
}

/** What the columns of prices that are left out have to say. */
export interface LeftOutPrices {
  readonly warnings: ReadonlyArray<Warning>
  /** The first column in another currency. */
  readonly foreign: { readonly name: string; readonly example: string } | undefined
  /** What only the owner can answer before a catalog has prices. */
  readonly question: string | undefined
  /** That another column has other prices than the one that is suggested. */
  readonly doubt: string | undefined
}

const exampleOf = ({ cells }: PriceColumn) => excerpt(cells.find((cell) => /[1-9]/.test(cell)) ?? "")
const quoted = (columns: ReadonlyArray<PriceColumn>) => columns.map(({ name }) => JSON.stringify(name)).join(" and ")
const ignoring = (columns: ReadonlyArray<PriceColumn>) =>
  asArgument(Object.fromEntries(columns.map(({ name }) => [name, "ignore"])))
const onlyOne = (column: PriceColumn) =>
  `an item has one price. Give each price a row of its own, or pass ${ignoring([column])}`

const questionOf = ({ entryOf, others, price, undecided }: Source) => {
  const candidates = others.filter(({ name }) => undecided.includes(name))
  const [first, ...more] = candidates
  if (first !== undefined) {
    const rows = [...new Set(more.flatMap((other) => conflicts(first, other)))].toSorted((a, b) => a - b)
    const target = candidates.every(({ inCents }) => inCents) ? "price_cents" : "price"
    return `${quoted(candidates)} may be the price, and differ: ${
      threeRows(candidates, rows, entryOf)
    }. Ask which of ` +
      `them customers pay, map that one to ${target} and the others to ignore; or give each price a row of its own`
  }
  const costs = price === undefined
    ? others.filter((column) => isCost(column.plain) && column.content === "prices")
    : []
  return costs.length === 0 ?
    undefined :
    `${quoted(costs)} is by its name what the shop pays, and no other column is ` +
    `a price. Add a column price, or pass ${
      ignoring(costs)
    } to publish without prices; map it to price only if it is ` +
    "what customers pay"
}

/** Columns of prices that are left out, each with rows that show it; and what nobody but the owner knows. */
export const leftOutPrices = (source: Source): LeftOutPrices => {
  const { entryOf, others, price, undecided } = source
  const rest = others.filter(({ name }) => !undecided.includes(name))
  const kindOf = ({ cells, plain }: PriceColumn) => priceKind(plain, cells.slice(0, 50))
  const foreign = rest.filter((column) => kindOf(column) === "foreign" && exampleOf(column) !== "")
  const priced = rest.filter((column) => kindOf(column) === "dollars" && column.content === "prices")
  const rivals = price === undefined ? [] : priced.flatMap((column) => {
    const rows = conflicts(price, column)
    if (rows.length === 0) return []
    const told = threeRows([price, column], rows, entryOf)
    const warning = leftOut(column.name, ` and has other prices than ${price.name}: ${told}; ${onlyOne(column)}`)
    return [{ warning, doubt: `${quoted([price, column])} have other prices: ${told}` }]
  })
  const question = questionOf(source)
  return {
    foreign: foreign.map((column) => ({ name: column.name, example: exampleOf(column) }))[0],
    question,
    doubt: rivals[0]?.doubt,
    warnings: [
      ...(question === undefined
        ? []
        : [{ type: "field_skipped", context: "file", message: `file has no price: ${question}` } as const]),
      ...foreign.map((column) => leftOut(column.name, `: its "${exampleOf(column)}" ${foreignWhy}`)),
      ...rivals.map(({ warning }) => warning),
      ...(price === undefined && question === undefined ? priced : []).map((column) =>
        leftOut(column.name, ` and may have prices too, such as "${exampleOf(column)}"; ${onlyOne(column)}`)
      ),
      ...rest.filter((column) =>
        (discounts.test(column.plain) || isSurcharge(column.plain)) && column.content === "prices"
      ).map((column) =>
        leftOut(
          column.name,
          `: ${column.filled} ${column.filled === 1 ? "row has" : "rows have"} something in it, such as ` +
            `"${exampleOf(column)}"; the prices are imported without it`
        )
      )
    ]
  }
}
