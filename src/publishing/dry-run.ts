import { type Preview } from "#src/imports/Import.ts"
import { ColumnsNotMapped } from "#src/imports/Mappings.ts"
import { type Loss } from "#src/imports/plan.ts"
import { Data, Struct } from "effect"

/** Rolls back the transaction of a dry run, and carries its result out of it. */
export class RolledBack extends Data.TaggedError("RolledBack")<{
  readonly preview: Preview
  readonly refusal: ColumnsNotMapped | undefined
}> {}

/** Why a file must not go live as it is: its prices, or all its items, would be lost. Undefined when nothing would. */
export const refusalOf = (preview: Preview, loss: Loss | undefined) => {
  const { field_mappings, unmapped_columns } = preview
  return loss === undefined ? undefined : new ColumnsNotMapped({
    issues: [loss],
    columns: [...field_mappings.map(({ source_field }) => source_field), ...unmapped_columns],
    ...Struct.pick(preview, "suggested_mappings", "price_candidates", "source_program")
  })
}
