import { quotable } from "#src/shared/outside-text.ts"
import { type Item, type Package } from "./Item.ts"
import { ecosystemOf } from "./release.ts"

export interface Inventory {
  /** Each once. */
  readonly packages: ReadonlyArray<Package>
  /** What is not known of the image, in sentences. */
  readonly notes: ReadonlyArray<string>
}

const releaseOf = (items: ReadonlyArray<Item>) => {
  for (const item of items) if (item._tag === "Release") return item
  return undefined
}

/** "a, b, c and 4 others". */
const some = (paths: ReadonlyArray<string>) =>
  paths.slice(0, 3).map((path) => quotable(path, 120)).join(", ") +
  (paths.length > 3 ? ` and ${paths.length - 3} others` : "")

const notesOf = (items: ReadonlyArray<Item>, ecosystem: string | undefined): ReadonlyArray<string> => {
  const notes: Array<string> = []
  const unread = items.flatMap((item) => item._tag === "Unread" ? [item.path] : [])
  if (unread.length > 0) {
    notes.push(`files of packages that are too large or can't be read are left out: ${some(unread)}`)
  }
  if (items.some((item) => item._tag === "Other")) notes.push("packages of RPM are not looked up")
  if (ecosystem === undefined && items.some((item) => item._tag === "System" && item.packages.length > 0)) {
    const release = releaseOf(items)
    const name = release === undefined ? "an unknown system" : `${release.id} ${release.version}`.trim()
    notes.push(`the packages of ${quotable(name, 100)} are not looked up: OSV does not know its release`)
  }
  return notes
}

/** What an image has, of what its files tell. */
export const inventoryOf = (items: ReadonlyArray<Item>): Inventory => {
  const release = releaseOf(items)
  const ecosystem = release === undefined ? undefined : ecosystemOf(release.id, release.version)
  const packages = new Map<string, Package>()
  const add = (found: Package) => packages.set(`${found.ecosystem}\n${found.name}\n${found.version}`, found)
  for (const item of items) {
    if (item._tag === "Package") add(item.package)
    if (item._tag === "System" && ecosystem !== undefined) {
      for (const found of item.packages) add({ ecosystem, ...found })
    }
  }
  return { packages: [...packages.values()], notes: notesOf(items, ecosystem) }
}
