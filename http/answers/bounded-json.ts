import { BadRequest } from "#src/shared/Failure.ts"
import { type Excess, excessOf, type JsonBounds, mostLevels } from "#src/shared/json-bounds.ts"
import { Effect } from "effect"

/**
 * Ten times what our largest bodies need: a thousand addresses of an allow list, arguments of a tool. A value costs up to
 * 30 µs where it is a field that its schema does not have.
 */
const bounds: JsonBounds = { levels: mostLevels, values: 10_000, fields: 1_000 }

const words: Readonly<Record<Excess, string>> = {
  levels: `is nested more than ${bounds.levels} levels deep`,
  values: `has more than ${bounds.values} values`,
  fields: `has an object of more than ${bounds.fields} fields`
}

/** What a JSON text of a caller has too much of, to follow its name; undefined if to read it stops nobody else. */
export const excessIn = (bytes: Uint8Array): string | undefined => {
  const excess = excessOf(bytes, bounds)
  return excess === undefined ? undefined : words[excess]
}

/** The bytes of a body, if they are within the bounds. */
export const boundedBody = (bytes: Buffer): Effect.Effect<Buffer, BadRequest> => {
  const excess = excessIn(bytes)
  return excess === undefined ? Effect.succeed(bytes) : new BadRequest({ reason: `The body ${excess}` })
}
