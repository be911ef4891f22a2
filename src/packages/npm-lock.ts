import { type ImageError, imageError } from "#src/images/ImageError.ts"
import { Either, Schema, Struct } from "effect"

/** What npm writes down of a package in its place (package-lock.json, version 3). */
const Entry = Schema.Struct({
  version: Schema.optional(Schema.String),
  resolved: Schema.optional(Schema.String),
  integrity: Schema.optional(Schema.String),
  link: Schema.optional(Schema.Boolean),
  inBundle: Schema.optional(Schema.Boolean),
  hasInstallScript: Schema.optional(Schema.Boolean),
  optionalDependencies: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})
const Lock = Schema.parseJson(Schema.Struct({
  lockfileVersion: Schema.Literal(3),
  packages: Schema.Record({ key: Schema.String, value: Entry })
}))
const decode = Schema.decodeUnknownEither(Lock)

const mostPackages = 5_000
const place = /^(?:node_modules\/(?:@[^/@\\]+\/)?[^/@\\]+\/)*node_modules\/(?:@[^/@\\]+\/)?[^/@\\]+$/

const isPlace = (path: string) => place.test(path) && !path.split("/").some((part) => part === "." || part === "..")

const startsWithOrigin = (url: string, origin: string) => url.startsWith(`${origin}/`)

/** Whether something in the lock answers `require(name)` of the package at `path`: beside it, or further up. */
const isPlaced = (packages: Readonly<Record<string, unknown>>, path: string, name: string): boolean => {
  if (`${path}/node_modules/${name}` in packages) return true
  const above = path.lastIndexOf("/node_modules/")
  return above < 0 ? `node_modules/${name}` in packages : isPlaced(packages, path.slice(0, above), name)
}

export interface NpmLock {
  readonly version: string
  readonly packages: number
  /** The same lock for exactly this version, whichever range or tag it was found by. */
  readonly pinned: string
  /** Packages whose own scripts npm would run. */
  readonly withScripts: ReadonlyArray<string>
  /** Optional packages that npm goes on without, since the registry lacks them. */
  readonly lacking: ReadonlyArray<string>
}

const invalid = (message: string) => Either.left(imageError("invalid_image", message))

/**
 * Checks what npm has resolved before any of it is installed: each package comes from the registry with a hash, and
 * goes below node_modules. Links, folders, other hosts and git are refused.
 */
export const readNpmLock = (text: string, name: string, origin: string): Either.Either<NpmLock, ImageError> => {
  const lock = decode(text)
  if (Either.isLeft(lock)) return invalid("npm wrote a lock that can't be read")
  const { "": _root, ...packages } = lock.right.packages
  const entries = Object.entries(packages)
  if (entries.length > mostPackages) return invalid(`the package needs more than ${mostPackages} others`)
  for (const [path, entry] of entries) {
    const at = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
    if (!isPlace(path) || entry.link === true) return invalid(`${at} is not a package of the registry`)
    if (entry.inBundle === true) continue
    if (entry.resolved === undefined || !startsWithOrigin(entry.resolved, origin)) {
      return invalid(`${at} comes from ${entry.resolved ?? "nowhere"}; all packages must come from ${origin}`)
    }
    if (entry.integrity === undefined) return invalid(`the registry has no hash of ${at}`)
  }
  const version = lock.right.packages[`node_modules/${name}`]?.version
  if (version === undefined) return invalid(`npm did not resolve ${name}`)
  const withScripts = entries.filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
  const root = { name: "berth-package", dependencies: { [name]: version } }
  const whole = JSON.parse(text) as { readonly packages: Readonly<Record<string, object>> }
  const changed: Record<string, object> = { "": root }
  const lacking = new Set<string>()
  // `npm ci` refuses a lock whose packages name what is not in it, even where that is optional.
  for (const [path, { optionalDependencies = {} }] of entries) {
    const without = Object.keys(optionalDependencies).filter((one) => !isPlaced(packages, path, one))
    if (without.length === 0) continue
    for (const one of without) lacking.add(one)
    changed[path] = { ...whole.packages[path], optionalDependencies: Struct.omit(optionalDependencies, ...without) }
  }
  const pinned = `${JSON.stringify({ ...whole, packages: { ...whole.packages, ...changed } }, undefined, 2)}\n`
  return Either.right({
    version,
    packages: entries.length,
    pinned,
    withScripts: [...new Set(withScripts)].sort(),
    lacking: [...lacking].sort()
  })
}
