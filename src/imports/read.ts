import { type Either } from "effect"
import { decode } from "./decode.ts"
import { type Upload } from "./Import.ts"
import { type Mappings } from "./Mappings.ts"
import { parseCsv } from "./parse-csv.ts"
import { parseJson } from "./parse-json.ts"
import { type Fault, fault, type Reading } from "./plan.ts"

const parsers = { ".csv": parseCsv, ".json": parseJson } as const

/** The parser for a file, by its extension. */
export const parserFor = (filename: string) => {
  const extension = /\.(?:csv|json)$/i.exec(filename.trim())?.[0].toLowerCase()
  return extension === ".csv" || extension === ".json" ? parsers[extension] : undefined
}

type Parser = NonNullable<ReturnType<typeof parserFor>>

/** Decodes and parses an upload; fails with the fault that makes it unusable. */
export function* read(
  { bytes }: Upload,
  parse: Parser,
  mappings: Mappings = {}
): Generator<void, Either.Either<Reading, Fault>> {
  if (bytes.length === 0) return fault("file", "is empty")
  const decoded = yield* decode(bytes)
  return yield* parse(decoded, mappings)
}
