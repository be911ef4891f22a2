import { Either } from "effect"

/** A package of a registry as a caller names it. `wanted` is a version, a range or a tag; empty is the newest. */
export interface PackageReference {
  readonly registry: "npm" | "pypi"
  readonly name: string
  readonly wanted: string
  /** Optional features of a Python package (PEP 508, extras). */
  readonly extras: ReadonlyArray<string>
}

const maxNpmName = 214

/** The part of npm's grammar that names a package of its registry: no path, URL, alias or option begins like this. */
const npmName = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-zA-Z0-9][a-zA-Z0-9._-]*$/
const npmVersion = /^[\^~]?\d{1,9}(?:\.(?:\d{1,9}|x)){0,2}(?:-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?$/
const npmTag = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/
/** npm and pip take such text for a file. */
const archive = /\.(?:tgz|tar|tar\.\w{1,4}|tbz2?|tlz|txz|zip|whl)$/i

/** PEP 508, "Names" and "Extras". */
const pythonName = "[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?"
const pythonForm = new RegExp(
  `^(${pythonName})(?:\\[(${pythonName}(?:,${pythonName}){0,15})\\])?((?:===|==|~=|!=|<=|>=|<|>).*)?$`
)
/** PEP 440: a version with an operator before it. */
const pythonClause =
  /^(?:===|==|~=|!=|<=|>=|<|>)\d{1,9}(?:[.!]\d{1,9}){0,8}(?:\.\*)?(?:[.-]?(?:a|b|c|rc|alpha|beta|pre|post|dev)\.?\d{0,9}){0,3}(?:\+[a-zA-Z0-9.]{1,32})?$/

const npm = (text: string): Either.Either<PackageReference, string> => {
  const at = text.indexOf("@", 1)
  const [name, wanted] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
  if (!npmName.test(name) || name.length > maxNpmName || archive.test(name)) {
    return Either.left("the package's name must be one of the npm registry's, such as npm:@scope/name@1.2.3")
  }
  if (at >= 0 && (archive.test(wanted) || !(npmVersion.test(wanted) || npmTag.test(wanted)))) {
    return Either.left("after the package's name comes @ and a version, ^ or ~ and a version, or a tag")
  }
  return Either.right({ registry: "npm", name, wanted, extras: [] })
}

const pypi = (text: string): Either.Either<PackageReference, string> => {
  const [, name, extras, wanted = ""] = pythonForm.exec(text) ?? []
  if (name === undefined || archive.test(text)) {
    return Either.left("the package's name must be one of PyPI's, such as pypi:name==1.2.3 or pypi:name[extra]")
  }
  if (wanted !== "" && !wanted.split(",").every((clause) => pythonClause.test(clause))) {
    return Either.left("after the package's name come versions such as ==1.2.3, or >=1.2,<2")
  }
  return Either.right({ registry: "pypi", name, wanted, extras: extras?.split(",") ?? [] })
}

export const isPackage = (imageUri: string) => /^(npm|pypi):/.test(imageUri)

/** Parses `npm:name@1.2.3` or `pypi:name==1.2.3`. The error says what must be different. */
export const parsePackage = (imageUri: string): Either.Either<PackageReference, string> =>
  imageUri.startsWith("npm:") ? npm(imageUri.slice("npm:".length)) : pypi(imageUri.slice("pypi:".length))

/** As the registry's own program takes it. */
export const requirement = ({ extras, name, registry, wanted }: PackageReference) =>
  registry === "npm"
    ? wanted === "" ? name : `${name}@${wanted}`
    : `${name}${extras.length === 0 ? "" : `[${extras.join(",")}]`}${wanted}`
