import { Predicate } from "effect"
import { excerpt } from "./cleaning.ts"

export type Fields = Readonly<Record<string, unknown>>

/** What names a preview tells, at most. */
export const mostUnmapped = 100

export const isFields = (value: unknown): value is Fields => Predicate.isRecord(value)

/** A field of the file's, and none that every object has. */
export const own = (fields: Fields, name: string): unknown => Object.hasOwn(fields, name) ? fields[name] : undefined

/** Names of fields that nothing is made of, each once. */
export class Unmapped {
  readonly names: Array<string> = []

  add(fields: Fields, known: ReadonlyArray<string>, prefix: string) {
    for (const name of Object.keys(fields)) {
      if (this.names.length >= mostUnmapped) return
      const shown = `${prefix}${excerpt(name)}`
      if (!known.includes(name) && !this.names.includes(shown)) this.names.push(shown)
    }
  }
}
