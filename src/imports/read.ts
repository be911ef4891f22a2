import { type Either } from "effect"
import { decode } from "./decode.ts"
import { formatOf, type Upload } from "./Import.ts"
import { parseCsv } from "./parse-csv.ts"
import { parseJson } from "./parse-json.ts"
import { type Fault, fault, type Reading } from "./plan.ts"

/** Decodes and parses an upload whose name has a format; fails with the fault that makes it unusable. */
export const read = ({ bytes, filename, mappings = {} }: Upload): Either.Either<Reading, Fault> => {
  if (bytes.length === 0) return fault("file", "is empty")
  return (formatOf(filename) === "csv" ? parseCsv : parseJson)(decode(bytes), mappings)
}
