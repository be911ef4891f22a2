import { type Settings } from "#src/config/Settings.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { protectedResource } from "#src/shared/well-known.ts"

/** Which of a server's two URLs a request used. */
export type Form = "host" | "path"

/** The paths below a server's URL that clients use; each has its own resource metadata. */
const endpoints = ["", "/mcp", "/sse"] as const
export type Endpoint = typeof endpoints[number]

const endpointOf = (path: string): Endpoint => endpoints.find((endpoint) => endpoint === path) ?? ""

/** A request for the gateway. */
export interface Target {
  readonly form: Form
  /** Undefined when its text can't be a slug: there is no such server. */
  readonly slug: string | undefined
  /** The endpoint of the server, or empty. */
  readonly endpoint: Endpoint
  /** `metadata`: the protected-resource document. `proxy`: passed to the machine, at `path`. */
  readonly kind: "metadata" | "proxy"
  /** Path and query as the machine sees them. */
  readonly path: string
}

/** A host name in lower case, without port and trailing dot. */
export const hostName = (host: string) => host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "")

const slugIn = (text: string) => isLabel(text) ? text : undefined

const pathOf = (url: string) => {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** The document is also served for the endpoints. */
const isMetadata = (path: string) => path === "/" || path === endpointOf(path)

/** Finds the server that a request is for, by its `Host` and its origin-form target; undefined: none. */
export const locator = (settings: Settings) => {
  const suffix = `.${hostName(settings.mcpDomain)}`
  // The platform's own hosts may be below the same domain.
  const ownHosts = new Set(
    [settings.baseUrl, settings.hubUrl, settings.authUrl].map((url) => hostName(new URL(url).host))
  )
  const base = new URL(settings.baseUrl).pathname.replace(/\/$/, "")
  const servers = `${base}/s/`
  const documents = `${protectedResource}${servers}`

  const byHost = (host: string, url: string): Target | undefined => {
    const name = hostName(host)
    if (!name.endsWith(suffix) || ownHosts.has(name)) return undefined
    const path = pathOf(url)
    const documentPath = path.startsWith(protectedResource) ? path.slice(protectedResource.length) : undefined
    const slug = slugIn(name.slice(0, -suffix.length))
    return documentPath !== undefined && isMetadata(documentPath)
      ? { form: "host", slug, endpoint: endpointOf(documentPath), kind: "metadata", path: url }
      : { form: "host", slug, endpoint: endpointOf(path), kind: "proxy", path: url }
  }

  const split = (prefix: string, url: string) => {
    const path = pathOf(url)
    const end = path.indexOf("/", prefix.length)
    return { slug: slugIn(path.slice(prefix.length, end === -1 ? undefined : end)), at: end === -1 ? path.length : end }
  }

  const byPath = (url: string): Target | undefined => {
    if (url.startsWith(servers)) {
      const { at, slug } = split(servers, url)
      const rest = url.slice(at)
      const path = rest.startsWith("/") ? rest : `/${rest}`
      return { form: "path", slug, endpoint: endpointOf(pathOf(path)), kind: "proxy", path }
    }
    if (!url.startsWith(documents)) return undefined
    const { at, slug } = split(documents, url)
    const documentPath = pathOf(url).slice(at)
    const isDocument = isMetadata(documentPath)
    return {
      form: "path",
      slug: isDocument ? slug : undefined,
      endpoint: endpointOf(documentPath),
      kind: "metadata",
      path: "/"
    }
  }

  return (host: string, url: string) => byHost(host, url) ?? byPath(url)
}

/** The slug in a subdomain, which may be the slug itself or a server's whole host name; undefined: none. */
export const slugOfSubdomain = (settings: Settings, subdomain: string) => {
  const name = hostName(subdomain.trim())
  const suffix = `.${hostName(settings.mcpDomain)}`
  const slug = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
  return isLabel(slug) ? slug : undefined
}
