import { Effect, Either } from "effect"
import { type ImageError, imageError } from "./ImageError.ts"

/** An image in a registry. `digest` takes precedence over `tag`; at least one of them is set. */
export interface RegistryReference {
  readonly _tag: "Registry"
  /** Host and port of the registry's API, lower case. */
  readonly registry: string
  readonly repository: string
  readonly tag?: string
  readonly digest?: string
}

/** An image in an OCI layout directory. Without a tag the layout must contain exactly one image. */
export interface LayoutReference {
  readonly _tag: "Layout"
  readonly path: string
  readonly tag?: string
}

export type ImageReference = RegistryReference | LayoutReference

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const hostPattern = new RegExp(`^(?:${label}(?:\\.${label})*|\\[[0-9a-f:.]{2,45}\\])(?::([1-9][0-9]{0,4}))?$`)
/** Distribution specification, "Pulling manifests": the grammar of <name> and of <reference> as a tag. */
const componentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
export const isComponent = (text: string) => componentPattern.test(text)
export const tagPattern = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/
export const digestPattern = /^sha256:[a-f0-9]{64}$/

export const checkDigest = (digest: string) =>
  digestPattern.test(digest)
    ? Effect.void
    : imageError("invalid_reference", "An image's digest is sha256: and 64 hex digits")

const maxLength = 1024
const maxName = 255

const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/

const invalid = (why: string) => Either.left(imageError("invalid_reference", `The image address is not valid: ${why}`))

const isHost = (component: string) =>
  component.includes(".") || component.includes(":") || component.toLowerCase() === "localhost"

const splitOnce = (text: string, at: number): [string, string | undefined] =>
  at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]

const parseHost = (text: string) => {
  const host = text.toLowerCase()
  const match = hostPattern.exec(host)
  return match === null || Number(match[1] ?? 1) > 65_535 ? undefined : host
}

const isDockerHub = (host: string) => host === "docker.io" || host === "index.docker.io"
const dockerHubApi = "registry-1.docker.io"

/** The host that an image's address names, as references have it; undefined for what no address can name. */
export const registryHost = (text: string): string | undefined => {
  const host = isHost(text) ? parseHost(text) : undefined
  return host !== undefined && isDockerHub(host) ? dockerHubApi : host
}

/** Docker Hub's API has another host name than its images, and its official images are below `library/`. */
const onDockerHub = (repository: string) => ({
  registry: dockerHubApi,
  repository: repository.includes("/") ? repository : `library/${repository}`
})

const parseName = (name: string): Either.Either<{ registry: string; repository: string }, ImageError> => {
  const components = name.split("/")
  const [first = "", ...rest] = components
  const named = rest.length > 0 && isHost(first)
  const host = named ? parseHost(first) : "docker.io"
  if (host === undefined) return invalid("the registry is not a host name with an optional port")
  const path = named ? rest : components
  if (path.some((component) => !componentPattern.test(component))) {
    return invalid("a repository name is made of lower-case letters, digits, and single . _ - between them")
  }
  if (name.length > maxName) return invalid(`the name is longer than ${maxName} characters`)
  const repository = path.join("/")
  return Either.right(
    isDockerHub(host) ? onDockerHub(repository) : { registry: host, repository }
  )
}

const parseRegistry = (text: string): Either.Either<ImageReference, ImageError> => {
  if (/\s/.test(text)) return invalid("it holds a space")
  const [tagged, digest] = splitOnce(text, text.indexOf("@"))
  const colon = tagged.lastIndexOf(":")
  const [name, tag] = splitOnce(tagged, colon > tagged.lastIndexOf("/") ? colon : -1)
  if (digest !== undefined && !digestPattern.test(digest)) return invalid("the digest is not sha256: and 64 hex digits")
  if (tag !== undefined && !tagPattern.test(tag)) return invalid("the tag is not 1-128 letters, digits, . _ or -")
  return Either.map(parseName(name), (where): ImageReference => ({
    _tag: "Registry",
    ...where,
    ...(tag === undefined ? digest === undefined ? { tag: "latest" } : {} : { tag }),
    ...(digest === undefined ? {} : { digest })
  }))
}

const parseLayout = (text: string): Either.Either<ImageReference, ImageError> => {
  const colon = text.lastIndexOf(":")
  const hasTag = colon > text.lastIndexOf("/") && tagPattern.test(text.slice(colon + 1))
  const [path, tag] = splitOnce(text, hasTag ? colon : -1)
  if (path === "" || path.startsWith("-") || path !== path.trim()) return invalid("oci: needs the path of a directory")
  return Either.right({ _tag: "Layout", path, ...(tag === undefined ? {} : { tag }) })
}

/**
 * Parses `registry/name:tag`, `name@sha256:…`, both, or `oci:PATH[:tag]`. Strict: it refuses what the grammar doesn't
 * allow, and never corrects it.
 */
export const parseReference = (text: string): Either.Either<ImageReference, ImageError> => {
  if (text === "") return invalid("it is empty")
  if (text.length > maxLength) return invalid(`it is longer than ${maxLength} characters`)
  if (unprintable.test(text)) return invalid("it holds a control character")
  if (text.startsWith("-")) return invalid("it starts with a -")
  return text.startsWith("oci:") ? parseLayout(text.slice(4)) : parseRegistry(text)
}

/** The address in its full form: parsing it again gives the same reference. */
export const formatReference = (reference: ImageReference): string => {
  const tag = reference.tag === undefined ? "" : `:${reference.tag}`
  if (reference._tag === "Layout") return `oci:${reference.path}${tag}`
  const digest = reference.digest === undefined ? "" : `@${reference.digest}`
  return `${reference.registry}/${reference.repository}${tag}${digest}`
}
