import { type Columns, mostNamed } from "./columns.ts"
import { type WholeRow } from "./csv-rows.ts"
import { hasFamilies } from "./families.ts"
import { isSurcharge, plainHeader } from "./header-words.ts"

interface Source extends Columns {
  readonly names: ReadonlyArray<string>
  readonly samples: ReadonlyArray<WholeRow>
}

/** The column of what a variation costs beside the price of its item, as in exports of Wix. */
export const surchargeColumn = ({ byField, ignored, names, samples }: Source) => {
  const taken = new Set([...byField.values(), ...ignored])
  const at = names.slice(0, mostNamed).findIndex((name, at) =>
    isSurcharge(plainHeader(name)) && !taken.has(at) && samples.some(({ cells }) => (cells[at] ?? "").trim() !== "")
  )
  return at >= 0 && byField.has("price") && hasFamilies(names) ? at : undefined
}
