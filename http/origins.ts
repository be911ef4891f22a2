import { Forbidden } from "#src/accounts/Policy.ts"
import { type Settings } from "#src/Config.ts"
import { type Headers } from "@effect/platform"
import { Effect } from "effect"

const isLoopback = (origin: string) =>
  URL.canParse(origin) && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(origin).hostname)

/** Ours, loopback while we are on loopback ourselves, or listed in `ALLOWED_ORIGINS` (design: origins). */
const isAllowed = (settings: Settings, origin: string) =>
  origin === new URL(settings.baseUrl).origin || settings.allowedOrigins.includes(origin) ||
  (isLoopback(settings.baseUrl) && isLoopback(origin))

/** A browser's foreign page is refused, whatever it sends: DNS rebinding (MCP 2025-11-25, transports, security). */
export const checkOrigin = (settings: Settings, headers: Headers.Headers) => {
  const origin = headers["origin"]
  return origin === undefined || isAllowed(settings, origin)
    ? Effect.void
    : new Forbidden({ reason: "This Origin is not allowed here; the operator can list it in ALLOWED_ORIGINS" })
}

/** For an Origin that `checkOrigin` let pass. */
export const corsHeaders = (origin: string | undefined): Readonly<Record<string, string>> =>
  origin === undefined ? {} : {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "authorization, content-type, mcp-protocol-version, mcp-session-id, last-event-id",
    "access-control-expose-headers": "www-authenticate, mcp-session-id, mcp-protocol-version, x-request-id",
    "access-control-max-age": "86400",
    vary: "Origin"
  }
