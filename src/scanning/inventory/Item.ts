/** A package as OSV is asked for it. */
export interface Package {
  readonly ecosystem: string
  readonly name: string
  readonly version: string
}

/** A package of the system: its ecosystem depends on the release. */
export type SystemPackage = Omit<Package, "ecosystem">

/** What one file of an image tells. */
export type Item =
  | { readonly _tag: "System"; readonly of: "dpkg" | "apk"; readonly packages: ReadonlyArray<SystemPackage> }
  | { readonly _tag: "Package"; readonly package: Package }
  | { readonly _tag: "Release"; readonly id: string; readonly version: string }
  /** A database of packages of a kind that is not read. */
  | { readonly _tag: "Other"; readonly what: string }
  /** A file of packages that can't be read, or has too many bytes. */
  | { readonly _tag: "Unread"; readonly path: string }
  /** Not a package after all, such as a package.json without a name. */
  | { readonly _tag: "Nothing" }

export const nothing: Item = { _tag: "Nothing" }

/** Names and versions go into requests and rows: none is long or has spaces, whatever an image says. */
export const isWord = (text: unknown): text is string => typeof text === "string" && /^[!-~]{1,200}$/.test(text)
