import { type Mappings } from "#src/imports/Mappings.ts"
import { type Reading } from "#src/imports/plan.ts"
import { read } from "#src/imports/read.ts"
import { Either } from "effect"

/** Reads a file as an import does. */
export const readFile = (filename: string, content: string | Uint8Array, mappings: Mappings = {}) =>
  read({ filename, bytes: Buffer.from(content), mappings })

export const readCsv = (content: string | Uint8Array): Reading => Either.getOrThrow(readFile("a.csv", content))
export const readJson = (value: unknown): Reading => Either.getOrThrow(readFile("a.json", JSON.stringify(value)))
export const faultOf = (filename: string, content: string | Uint8Array, mappings: Mappings = {}) =>
  Either.getOrThrow(Either.flip(readFile(filename, content, mappings)))

export const namesOf = ({ plan }: Reading) => plan.items.map(({ name }) => name)
export const messagesOf = ({ warnings }: Reading) => warnings.map(({ message }) => message)
