import { type Settings } from "#src/config/Settings.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { apiResource, compositeResource, platformResources } from "#src/oauth/scopes/platform-resource.ts"
import { publicUrl, resourceUrls } from "#src/servers/addresses.ts"
import { locator } from "#src/servers/locate.ts"

/** A parsed `resource` and its canonical form: of a server's two URLs the one that is the audience of its tokens. */
export type NamedResource =
  | { readonly kind: "server"; readonly slug: string; readonly resource: string }
  | { readonly kind: "platform"; readonly resource: string }
  /** A composite's MCP endpoint. */
  | { readonly kind: "composite"; readonly id: string; readonly resource: string }

const absolute = /^https?:\/\/[^/?#@\\\s]+(\/[^?#\\\s]*)?$/i

/** Clients that know only a server's MCP endpoint send that; the token is for the server. */
const endpoints = ["", "/mcp", "/sse"]

/**
 * Reads `resource` (RFC 8707 §2): a hosted server by one of its two URLs, our own MCP endpoint, or our API. Undefined for
 * anything else, and for texts that only a parser's repairs turn into one of them (dot segments, backslashes, user
 * names).
 */
export const resourceNamer = (settings: Settings) => {
  const locate = locator(settings)
  const ownResources = new Set([...Object.values(platformResources(settings)), apiResource(settings)])
  return (text: string): NamedResource | undefined => {
    const path = absolute.exec(text)
    const url = parseUrl(text)
    if (path === null || url?.pathname !== (path[1] ?? "/")) return undefined
    const canonical = url.origin + url.pathname.replace(/\/$/, "")
    if (ownResources.has(canonical)) return { kind: "platform", resource: canonical }
    if (compositeResource(settings, url.pathname) === canonical) {
      return { kind: "composite", id: canonical.slice(canonical.lastIndexOf("/") + 1), resource: canonical }
    }
    const target = locate(url.host, url.pathname)
    if (target?.slug === undefined || target.kind !== "proxy") return undefined
    const { form, slug } = target
    const named = resourceUrls(settings, slug)[form]
    return endpoints.some((end) => canonical === named + end)
      ? { kind: "server", slug, resource: publicUrl(settings, slug) }
      : undefined
  }
}
