import { type Settings } from "#src/Config.ts"

/** The two URLs of a hosted server, without a trailing slash. Both reach it, and a client may name either. */
export const resourceUrls = (settings: Settings, slug: string) => ({
  host: `${new URL(settings.baseUrl).protocol}//${slug}.${settings.mcpDomain}${portOf(settings)}`,
  path: `${settings.baseUrl}/s/${slug}`
})

/** The port of the base URL, unless the domain carries its own: both forms are answered by one listener. */
const portOf = ({ baseUrl, mcpDomain }: Settings) => {
  const { port } = new URL(baseUrl)
  return port === "" || mcpDomain.includes(":") ? "" : `:${port}`
}

/**
 * The one that clients are told, and the audience of every token (docs/decisions/token-audience.md). The host form needs
 * wildcard DNS, so it wants `MCP_DOMAIN` set.
 */
export const publicUrl = (settings: Settings, slug: string) =>
  resourceUrls(settings, slug)[settings.mcpDomainExplicit ? "host" : "path"]
