import { plainHeader } from "./header-words.ts"

export const handles = new Set(["handle", "url handle", "handle id", "product handle"])
export const parents = new Set([
  "parent",
  "parent sku",
  "parent id",
  "übergeordnetes produkt",
  "superior",
  "genitore",
  "родительский"
])

/** The first column of these names; -1 when there is none. */
export const find = (names: ReadonlyArray<string>, wanted: ReadonlySet<string>) =>
  names.findIndex((name) => wanted.has(plainHeader(name)))

/** Whether rows say which item they belong to. */
export const hasFamilies = (names: ReadonlyArray<string>) => find(names, handles) >= 0 || find(names, parents) >= 0
