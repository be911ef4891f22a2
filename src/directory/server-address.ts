import { type Settings } from "#src/Config.ts"
import { hostName, wellKnown } from "#src/gateway/address.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { isLabel } from "#src/shared/slug.ts"

/** Where clients reach a hosted server: Streamable HTTP, at the URL that its tokens are for. */
export const mcpUrl = (settings: Settings, slug: string) => `${publicUrl(settings, slug)}/mcp`

/** The older transport of the same server. */
export const sseUrl = (settings: Settings, slug: string) => `${publicUrl(settings, slug)}/sse`

/** RFC 9728 §3.1: the path of the resource goes behind the well-known one. */
export const protectedResourceUrl = (settings: Settings, slug: string) => {
  const { origin, pathname } = new URL(publicUrl(settings, slug))
  return `${origin}${wellKnown}${pathname === "/" ? "" : pathname}`
}

/** The slug that a subdomain names: the slug itself, or the whole host of a server of ours; undefined: none. */
export const slugOfSubdomain = (settings: Settings, subdomain: string) => {
  const name = hostName(subdomain.trim())
  const suffix = `.${hostName(settings.mcpDomain)}`
  const slug = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
  return isLabel(slug) ? slug : undefined
}

/** The registry's names begin with a domain in reverse: `domain.mcp/slug` for slug.mcp.domain. */
export const registryNamespace = ({ mcpDomain }: Settings) => hostName(mcpDomain).split(".").reverse().join(".")
