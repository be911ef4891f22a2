import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { parseUrl } from "../format/parse-url.ts"
import { type Introspect, issuerOf } from "./introspection.ts"

export interface Refusal {
  readonly status: 401 | 403
  readonly code: string
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/** Why a request is rejected; undefined: it is served. */
export type Check = (headers: IncomingHttpHeaders) => Promise<Refusal | undefined>

export interface GatewayCheckOptions {
  /** `PLATFORM_MCP_REPLAY_TOKEN`; the platform's gateway sends it with each request as `X-Berth-Gateway-Token`. */
  readonly replayToken: string
  /** `OAUTH_BASE_URL`, whose tokens are introspected. */
  readonly issuer: string | undefined
  /** `SVC_MCP_PUBLIC_URL`: for the hint in a 401 that says where to get a token. */
  readonly publicUrl: string | undefined
  readonly introspect: Introspect
}

const digest = (text: string) => createHash("sha256").update(text).digest()

const notThroughGateway: Refusal = {
  status: 403,
  code: "forbidden",
  message: "This server is reached through its gateway only",
  headers: {}
}

/** RFC 9728 §3.1: the well-known path goes before the path of the resource. */
const metadataOf = (publicUrl: string) => {
  const { origin, pathname } = new URL(publicUrl)
  return `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`
}

const revoked = (publicUrl: string | undefined): Refusal => ({
  status: 401,
  code: "unauthorized",
  message: "The access token was revoked or has expired",
  headers: {
    "www-authenticate": [
      `Bearer error="invalid_token"`,
      ...(publicUrl === undefined || parseUrl(publicUrl) === undefined
        ? []
        : [`resource_metadata="${metadataOf(publicUrl)}"`])
    ].join(", ")
  }
})

/**
 * What a hosted server can check by itself (docs/security.md): that the request passed the gateway, and that the
 * authorization server still reports the token as active. The gateway has checked signature, audience, time and scopes;
 * a token of another issuer (byoa mode) is for the customer's own server to verify. When introspection fails, the
 * gateway's checks are enough.
 */
export const gatewayCheck = ({ introspect, issuer, publicUrl, replayToken }: GatewayCheckOptions): Check => {
  const expected = digest(replayToken)
  return async (headers) => {
    const sent = headers["x-berth-gateway-token"]
    if (typeof sent !== "string" || !timingSafeEqual(digest(sent), expected)) return notThroughGateway
    const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1]
    if (token === undefined || issuer === undefined || issuerOf(token) !== issuer) return undefined
    return await introspect(token) === "inactive" ? revoked(publicUrl) : undefined
  }
}

/** For use outside the platform, without a gateway. */
export const noCheck: Check = () => Promise.resolve(undefined)
