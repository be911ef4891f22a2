import { Predicate } from "effect"
import { excerpt } from "./cleaning.ts"

export type Fields = Readonly<Record<string, unknown>>

/** Maximum of unmapped names in a preview. */
export const mostUnmapped = 100

export const isFields = (value: unknown): value is Fields => Predicate.isRecord(value)

/** An own field of the object, none of its prototype. */
export const own = (fields: Fields, name: string): unknown => Object.hasOwn(fields, name) ? fields[name] : undefined

/** Collects the names of fields that are not imported, without duplicates. */
export class Unmapped {
  readonly names: Array<string> = []

  add(fields: Fields, knownNames: ReadonlyArray<string>, prefix: string) {
    for (const name of Object.keys(fields)) {
      if (this.names.length >= mostUnmapped) return
      const shown = `${prefix}${excerpt(name)}`
      if (!knownNames.includes(name) && !this.names.includes(shown)) this.names.push(shown)
    }
  }
}
