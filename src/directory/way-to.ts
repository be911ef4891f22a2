import { type Settings } from "#src/config/Settings.ts"
import { mcpUrl } from "#src/servers/addresses.ts"

interface Reachable {
  readonly website: string
  readonly serverSlug: string | null
}

/** Where to send somebody who wants to go to a business: its website, else its server; undefined: it has neither. */
export const wayTo = (settings: Settings, { serverSlug, website }: Reachable): string | undefined =>
  website !== "" ? website : serverSlug === null ? undefined : mcpUrl(settings, serverSlug)
