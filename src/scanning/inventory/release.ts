import { type Item, nothing } from "./Item.ts"

/** os-release(5): assignments as of a shell. */
export const readRelease = (text: string): Item => {
  const fields = new Map<string, string>()
  for (const line of text.split("\n")) {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) fields.set(name, value.trim().replace(/^(["'])(.*)\1$/, "$2"))
  }
  const id = fields.get("ID")
  return id === undefined ? nothing : { _tag: "Release", id, version: fields.get("VERSION_ID") ?? "" }
}

const major = (version: string) => /^\d+/.exec(version)?.[0]
const minor = (version: string) => /^\d+\.\d+/.exec(version)?.[0]

/** Ubuntu's long-term releases are those of April of even years. */
const ubuntu = (release: string | undefined) =>
  release === undefined ? undefined : `Ubuntu:${release}${/^\d*[02468]\.04$/.test(release) ? ":LTS" : ""}`

/** How OSV names the packages of a release; undefined when it has none of them. */
export const ecosystemOf = (id: string, version: string): string | undefined => {
  switch (id) {
    case "debian":
      return major(version) === undefined ? undefined : `Debian:${major(version)}`
    case "ubuntu":
      return ubuntu(minor(version))
    case "alpine":
      return minor(version) === undefined ? undefined : `Alpine:v${minor(version)}`
    case "wolfi":
      return "Wolfi"
    case "chainguard":
      return "Chainguard"
    default:
      return undefined
  }
}
