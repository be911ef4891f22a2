import { isWord, type Item, nothing } from "./Item.ts"

const npmName = /^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~_][a-z0-9-._~]*$/i

/** A package.json below node_modules. One without a name or version is a folder's type alone. */
export const readNodePackage = (text: string): Item => {
  const { name, version }: { readonly name?: unknown; readonly version?: unknown } = Object(JSON.parse(text))
  return isWord(name) && npmName.test(name) && isWord(version)
    ? { _tag: "Package", package: { ecosystem: "npm", name, version } }
    : nothing
}

/** PEP 503, "Normalized Names". */
const normalized = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-")

/** The METADATA of an installed distribution: headers, then a blank line and its description. */
export const readPythonPackage = (text: string): Item => {
  const [headers = ""] = text.split(/\r?\n\r?\n/, 1)
  const field = (name: string) =>
    headers.split("\n").find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1).trim()
  const [name, version] = [field("name"), field("version")]
  return isWord(name) && isWord(version)
    ? { _tag: "Package", package: { ecosystem: "PyPI", name: normalized(name), version } }
    : nothing
}
