import { optional } from "#src/shared/text.ts"
import { Schema } from "effect"

/** What a package was resolved to, once: a deployment keeps it, and a rollback takes the image that was made of it. */
export const Package = Schema.Struct({
  registry: Schema.Literal("npm", "pypi"),
  name: Schema.String,
  version: Schema.String,
  node: optional(Schema.String.annotations({ description: "Of npm: the version of Node.js that its machine has" })),
  lockDigest: Schema.String.annotations({
    description: "sha256 of the lock: exact versions and hashes of the package and all that it needs"
  }),
  programs: Schema.Array(Schema.String).annotations({ description: "The programs that it brings" }),
  main: Schema.NullOr(Schema.String).annotations({ description: "The one that runs unless command names another" })
}).annotations({ title: "Package" })
export type Package = typeof Package.Type

/** A package that was resolved: exact versions of everything, but nothing installed yet. */
export interface Locked {
  readonly name: string
  readonly version: string
  /** Text from which exactly the same is installed again. */
  readonly lock: string
  /** What its owner should know. */
  readonly notes: ReadonlyArray<string>
  /** Packages of it with install scripts. */
  readonly withScripts: ReadonlyArray<string>
}
