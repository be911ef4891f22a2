import { type StoredImages } from "#src/images/StoredImages.ts"
import { Effect } from "effect"
import { inventoryOf } from "../inventory/inventory.ts"
import { packageFiles } from "../inventory/package-files.ts"
import { type Driver, ScanError } from "../Scanner.ts"
import { type OsvApi } from "./Api.ts"
import { makeLookUp } from "./look-up.ts"

/** Far more than any real image has. What is beyond it would not be asked for, and its absence not be seen. */
const mostPackages = 50_000

/** Reads which packages an image has, and asks OSV about them. */
export const osvDriver = (api: OsvApi, images: StoredImages): Driver => {
  const lookUp = makeLookUp(api)
  return {
    name: "osv",
    title: "OSV",
    scan: Effect.fn("Osv.scan")(function*(digest: string) {
      const items = yield* Effect.mapError(
        images.files(digest, packageFiles),
        ({ message }) => new ScanError({ message })
      )
      const { notes, packages } = inventoryOf(items)
      if (packages.length > mostPackages) {
        return yield* new ScanError({ message: `the image lists more than ${mostPackages} packages` })
      }
      return { findings: yield* lookUp(packages), notes: [`${packages.length} packages were looked up`, ...notes] }
    })
  }
}
