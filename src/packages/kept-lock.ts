import { Either } from "effect"
import { normalName } from "./python-installer.ts"
import { type PackageReference, parsePackage } from "./reference.ts"

/** A deployment of the same server that served. */
export interface Served {
  /** Of its image, by which its lock is known. */
  readonly digest: string
  /** The package as it was asked for. */
  readonly imageUri: string
  /** What that was. */
  readonly version: string
}

const sameText = (a: ReadonlyArray<string>, b: ReadonlyArray<string>) => [...a].sort().join() === [...b].sort().join()

/** Whether two references mean one package with the same optional features, whichever version each wants. */
const isSame = (a: PackageReference, b: PackageReference) =>
  a.registry === b.registry && sameText(a.extras, b.extras) &&
  (a.registry === "npm" ? a.name === b.name : normalName(a.name) === normalName(b.name))

/** Those that were of this package. */
export const sameAs = (reference: PackageReference, served: ReadonlyArray<Served>): ReadonlyArray<Served> =>
  served.filter(({ imageUri }) =>
    Either.match(parsePackage(imageUri), { onLeft: () => false, onRight: (before) => isSame(before, reference) })
  )

/** Whether a reference can mean this version alone, so that nothing must be resolved to know it. */
export const isExactly = ({ registry, wanted }: PackageReference, version: string): boolean =>
  (registry === "npm" ? [version] : [`==${version}`, `===${version}`]).includes(wanted)
