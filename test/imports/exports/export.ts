import { type Article } from "./catalogs.ts"

/** What the owner expects to find in the catalog. */
export interface Expected extends Article {
  readonly priceType?: string
}

export interface Export {
  readonly title: string
  readonly bytes: Uint8Array
  readonly expected: ReadonlyArray<Expected>
  /** Where the catalog can't be what the owner expects: the warning that tells it, with row and value. */
  readonly warning?: RegExp
}
