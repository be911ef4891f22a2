import { isWord, type Item, type SystemPackage } from "./Item.ts"

/** The fields of each paragraph: `Name: value` (Debian Policy 5.1), continued lines left out. */
const paragraphs = function*(text: string, separator: RegExp) {
  let fields = new Map<string, string>()
  for (const line of text.split("\n")) {
    if (line.trim() === "") {
      if (fields.size > 0) yield fields
      fields = new Map()
      continue
    }
    const [, name, value] = separator.exec(line) ?? []
    if (name !== undefined && value !== undefined) fields.set(name, value.trim())
  }
  if (fields.size > 0) yield fields
}

const distinct = (packages: Iterable<SystemPackage>): ReadonlyArray<SystemPackage> => [
  ...new Map([...packages].map((found) => [`${found.name}\n${found.version}`, found])).values()
]

/**
 * Of Debian's `status`, or of a file of `status.d`, where each package has one. Advisories name the source package,
 * which stands in `Source`, with its version in brackets where that differs.
 */
const debian = function*(text: string): Generator<SystemPackage> {
  for (const fields of paragraphs(text, /^([\w-]+):(.*)$/)) {
    const status = fields.get("Status")
    if (status !== undefined && !status.endsWith(" installed")) continue
    const [, source, sourceVersion] = /^(\S+)(?: \((\S+)\))?$/.exec(fields.get("Source") ?? "") ?? []
    const name = source ?? fields.get("Package")
    const version = sourceVersion ?? fields.get("Version")
    if (isWord(name) && isWord(version)) yield { name, version }
  }
}

/** Of apk's `installed`: P is the package, o its source package, by which advisories go, V the version. */
const alpine = function*(text: string): Generator<SystemPackage> {
  for (const fields of paragraphs(text, /^([A-Za-z]):(.*)$/)) {
    const name = fields.get("o") ?? fields.get("P")
    const version = fields.get("V")
    if (isWord(name) && isWord(version)) yield { name, version }
  }
}

export const readDpkg = (text: string): Item => ({ _tag: "System", of: "dpkg", packages: distinct(debian(text)) })

export const readApk = (text: string): Item => ({ _tag: "System", of: "apk", packages: distinct(alpine(text)) })
