import { type Settings } from "#src/config/Settings.ts"
import { documentUrl } from "#src/shared/well-known.ts"
import { hostName } from "./locate.ts"

/** The two URLs of a hosted server, without a trailing slash. Both reach it, and a client may use either. */
export const resourceUrls = (settings: Settings, slug: string) => ({
  host: `${new URL(settings.baseUrl).protocol}//${slug}.${settings.mcpDomain}${portOf(settings)}`,
  path: `${settings.baseUrl}/s/${slug}`
})

/** The port of the base URL, unless the domain has its own: one listener serves both forms. */
const portOf = ({ baseUrl, mcpDomain }: Settings) => {
  const { port } = new URL(baseUrl)
  return port === "" || mcpDomain.includes(":") ? "" : `:${port}`
}

/**
 * The URL for clients, and the audience of every token (docs/decisions/token-audience.md). The host form needs wildcard
 * DNS, so it is used only when `MCP_DOMAIN` is set.
 */
export const publicUrl = (settings: Settings, slug: string) =>
  resourceUrls(settings, slug)[settings.mcpDomainExplicit ? "host" : "path"]

/** Where clients reach a hosted server: Streamable HTTP, at the URL that its tokens are for. */
export const mcpUrl = (settings: Settings, slug: string) => `${publicUrl(settings, slug)}/mcp`

/** The older transport of the same server. */
export const sseUrl = (settings: Settings, slug: string) => `${publicUrl(settings, slug)}/sse`

/** URL of a hosted server's protected-resource metadata (RFC 9728 §3.1). */
export const protectedResourceUrl = (settings: Settings, slug: string) => documentUrl(publicUrl(settings, slug))

/** `com.example` for example.com. An IPv6 address has colons, which names can't contain. */
export const reversedDomain = (host: string) =>
  host.replace(/^\[|\]$/g, "").replaceAll(":", "-").split(".").reverse().join(".")

/** Names in the registry begin with a reversed domain: `domain.mcp/slug` for slug.mcp.domain. */
export const registryNamespace = ({ mcpDomain }: Settings) => reversedDomain(hostName(mcpDomain))
