import { Forbidden } from "#src/accounts/Policy.ts"
import { type Settings } from "#src/config/Settings.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { hostName } from "#src/servers/locate.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { type Headers } from "@effect/platform"
import { Effect, Schema } from "effect"
import { isIP } from "node:net"

const isLoopback = (origin: string) => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(parseUrl(origin)?.hostname ?? "")

/** Our own origin, loopback if our own is loopback, or listed in `ALLOWED_ORIGINS`. */
const isAllowed = (settings: Settings, origin: string) =>
  origin === new URL(settings.baseUrl).origin || settings.allowedOrigins.includes(origin) ||
  (isLoopback(settings.baseUrl) && isLoopback(origin))

/** Rejects pages of other origins, against DNS rebinding (MCP 2025-11-25, transports, security). */
export const checkOrigin = (settings: Settings, headers: Headers.Headers) => {
  const origin = headers["origin"]
  return origin === undefined || isAllowed(settings, origin)
    ? Effect.void
    : new Forbidden({ reason: "This Origin is not allowed here; the operator can list it in ALLOWED_ORIGINS" })
}

/** The Host is not one of ours: 421 (RFC 9110 §15.5.20). */
class Misdirected extends Schema.TaggedError<Misdirected>()(
  "Misdirected",
  { host: Schema.String },
  failsWith(421)
) {
  override get message() {
    return `${this.host} is not served here; the operator can set it as BASE_URL, or list it in ALLOWED_ORIGINS`
  }
}

/**
 * Against DNS rebinding of a client that sends no Origin: rejects host names that are not ours. IP addresses can't be
 * rebound.
 */
export const checkHost = (settings: Settings, headers: Headers.Headers) => {
  const host = hostName(headers["host"] ?? "")
  const ownHosts = [settings.baseUrl, settings.hubUrl, settings.authUrl, ...settings.allowedOrigins]
    .flatMap((url) => parseUrl(url) ?? []).map((url) => hostName(url.host))
  return host === "" || host === "localhost" || isIP(host.replace(/^\[|\]$/g, "")) > 0 || ownHosts.includes(host)
    ? Effect.void
    : new Misdirected({ host })
}

/** For an Origin that passed `checkOrigin`. */
export const corsHeaders = (origin: string | undefined): Readonly<Record<string, string>> =>
  origin === undefined ? {} : {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers":
      "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, toolsets, last-event-id",
    "access-control-expose-headers": "www-authenticate, mcp-session-id, mcp-protocol-version, x-request-id",
    "access-control-max-age": "86400",
    vary: "Origin"
  }
