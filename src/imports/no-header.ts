import { excerpt } from "./cleaning.ts"
import { itemFields } from "./fields.ts"
import { fitOf, plainHeader, priceKind } from "./header-words.ts"
import { asArgument, type Mappings, type Suggestion } from "./Mappings.ts"
import { type Fault } from "./plan.ts"

const amount = /^(?:\p{Sc}|[a-z]{2,3}\.?)?\s*\d[\d.,' ]*\s*(?:\p{Sc}|[a-zł]{1,3}\.?|,-|,–)?$/iu
const isAmount = (cell: string) => cell.length < 30 && amount.test(cell.trim())
const isText = (cell: string) => /\p{L}/u.test(cell) && !isAmount(cell)

const namesField = (cell: string) => {
  const plain = plainHeader(cell)
  return priceKind(plain, []) !== undefined || itemFields.some((field) => fitOf(field, plain) !== undefined)
}

/** `pizza;3000`: a first row with a text and an amount, and without the name of a field, is an item and no header. */
export const isItem = (cells: ReadonlyArray<string>) =>
  cells.some(isAmount) && cells.some(isText) && !cells.some(namesField)

/** What the columns of a file without a header are called. */
export const numbered = (cells: ReadonlyArray<string>) => cells.map((_, at) => `column ${at + 1}`)

const shareOf = (cells: ReadonlyArray<string>, is: (cell: string) => boolean) =>
  cells.length === 0 ? 0 : cells.filter(is).length / cells.length

/** Which of its columns may hold what: the price is the last of amounts, the name of the texts that differ most. */
const guess = (rows: ReadonlyArray<ReadonlyArray<string>>): Suggestion => {
  const columns = numbered(rows[0] ?? []).map((name, at) => {
    const cells = rows.map((row) => row[at]?.trim() ?? "").filter((cell) => cell !== "")
    const length = cells.reduce((sum, cell) => sum + cell.length, 0) / Math.max(1, cells.length)
    return { name, cells, length, distinct: new Set(cells).size }
  })
  const price = columns.findLast(({ cells }) => shareOf(cells, isAmount) > 0.5)
  const texts = columns.filter(({ cells }) => shareOf(cells, isText) > 0.5)
  const [name, ...others] = texts.toSorted((a, b) => b.distinct - a.distinct)
  const category = others.find(({ cells, distinct }) => cells.length > 3 && distinct * 2 <= cells.length)
  const description = others.find((column) => column !== category && column.length > 20)
  const found = [[name, "name"], [description, "description"], [price, "price"], [category, "category"]] as const
  return {
    program: null,
    undecided: [],
    mappings: Object.fromEntries(
      found.flatMap(([column, field]) => column === undefined ? [] : [[column.name, field] as const])
    )
  }
}

/** The fault of a file without a header, where the mappings don't say which column is the name. */
export const headerFault = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  delimiter: string,
  mappings: Mappings
): Fault => {
  const [first = []] = rows
  const suggestion = guess(rows)
  const header = numbered(first).map((column) => suggestion.mappings[column] ?? column).join(delimiter)
  const given = Object.keys(mappings).length > 0 ? "; name its columns column 1, column 2 and so on" : ""
  const message =
    `has no header row: its first row is ${excerpt(first.join(delimiter))}${given}. If this is right, pass ` +
    `${asArgument(suggestion.mappings)}; or write a header above it, such as ${header}`
  return { path: "file", message, choice: { columns: numbered(first), suggestion } }
}
