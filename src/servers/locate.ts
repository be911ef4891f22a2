import { type Settings } from "#src/config/Settings.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { protectedResource } from "#src/shared/well-known.ts"

/** Which of a server's two URLs a request used. */
export type Form = "host" | "path"

/** The paths below a server's URL that clients use, as they spell them; each has its own resource metadata. */
const endpoints = ["", "/", "/mcp", "/mcp/", "/sse", "/sse/"] as const
export type Endpoint = typeof endpoints[number]

const endpointIn = (form: Form, path: string): Endpoint | undefined =>
  // A URL of a host alone is the same with its slash.
  form === "host" && path === "/" ? "" : endpoints.find((endpoint) => endpoint === path)

const endpointOf = (form: Form, path: string): Endpoint => endpointIn(form, path) ?? ""

const oauthDocument =
  /^(.*?)\/\.well-known\/(oauth-protected-resource|oauth-authorization-server|openid-configuration)(\/.*)?$/s

/**
 * The endpoint whose metadata a path below a server's URL names: the well-known part comes before or after the endpoint.
 * `nowhere`: an OAuth document that the server does not have, since its authorization server does. Undefined: another path.
 */
const documentIn = (form: Form, path: string): Endpoint | "nowhere" | undefined => {
  const [, before, name, after = ""] = oauthDocument.exec(path) ?? []
  if (before === undefined || endpointIn(form, before) === undefined) return undefined
  const endpoint = before === "" || after === "" ? endpointIn(form, before + after) : undefined
  return name === "oauth-protected-resource" ? endpoint ?? "nowhere" : "nowhere"
}

/** A request for the gateway. */
export interface Target {
  readonly form: Form
  /** Undefined when its text can't be a slug, or names no document: there is no such thing. */
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

  /** `sought`: the path below the server's URL; `path`: that and the query, as the machine sees it. */
  const below = (form: Form, slug: string | undefined, sought: string, path: string): Target => {
    const endpoint = documentIn(form, sought)
    return endpoint === undefined
      ? { form, slug, endpoint: endpointOf(form, sought), kind: "proxy", path }
      : endpoint === "nowhere"
      ? { form, slug: undefined, endpoint: "", kind: "metadata", path }
      : { form, slug, endpoint, kind: "metadata", path }
  }

  const byHost = (host: string, url: string): Target | undefined => {
    const name = hostName(host)
    if (!name.endsWith(suffix) || ownHosts.has(name)) return undefined
    const path = pathOf(url)
    return below("host", slugIn(name.slice(0, -suffix.length)), path, url)
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
      return below("path", slug, pathOf(rest), rest.startsWith("/") ? rest : `/${rest}`)
    }
    if (!url.startsWith(documents)) return undefined
    const { at, slug } = split(documents, url)
    return below("path", slug, `${protectedResource}${pathOf(url).slice(at)}`, "/")
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
