import { type Settings } from "#src/config/Settings.ts"
import { mcpUrl } from "#src/servers/addresses.ts"

/** Where a listing is found. Slugs are DNS labels, and need no encoding. */
export const urlsOf = (settings: Settings) => ({
  page: (slug: string) => `${settings.baseUrl}/listings/${slug}`,
  skill: (id: string) => `${settings.hubUrl}/api/v1/hub/listings/${id}/skill.md`,
  referral: (id: string) => `${settings.hubUrl}/api/v1/hub/listings/${id}/referral`,
  /** Empty when no server is linked. */
  mcp: (serverSlug: string | null) => serverSlug === null ? "" : mcpUrl(settings, serverSlug)
})
