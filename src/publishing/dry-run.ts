import { type Preview } from "#src/imports/Import.ts"
import { ColumnsNotMapped, type Target, vitalColumn } from "#src/imports/Mappings.ts"
import { type Loss } from "#src/imports/plan.ts"
import { Data } from "effect"

/** Rolls back the transaction of a dry run, and carries its result out of it. */
export class RolledBack extends Data.TaggedError("RolledBack")<{
  readonly preview: Preview
  readonly refusal: ColumnsNotMapped | undefined
}> {}

/** Of a column that would be lost although the catalog needs it. */
const lostColumn = (column: string, target: Target): Loss => {
  const [name, map, ignore] = [column, { [column]: target }, { [column]: "ignore" }].map((value) =>
    JSON.stringify(value)
  )
  const message = target === "catalog_items"
    ? `would publish no item, although the file's ${name} may be the list of them: pass mappings ${map}, or ${ignore}`
    : `would publish no price, although ${name} looks like one: pass mappings ${map}, or ${ignore} to publish without`
  return { path: "mappings", message }
}

/** Why a file must not go live as it is: its prices, or all its items, would be lost. Undefined when nothing would. */
export const refusalOf = (preview: Preview, loss: Loss | undefined) => {
  const { field_mappings, source_program, suggested_mappings, unmapped_columns } = preview
  const [column, target] = vitalColumn(suggested_mappings) ?? []
  const issue = column === undefined || target === undefined ? loss : lostColumn(column, target)
  return issue === undefined ? undefined : new ColumnsNotMapped({
    issues: [issue],
    columns: [...field_mappings.map(({ source_field }) => source_field), ...unmapped_columns],
    suggested_mappings,
    source_program
  })
}
