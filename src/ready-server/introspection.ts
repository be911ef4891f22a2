import { decodeJwt } from "jose"

/** `unknown`: the authorization server could not be asked. */
export type TokenState = "active" | "inactive" | "unknown"
export type Introspect = (token: string) => Promise<TokenState>

export interface IntrospectionOptions {
  /** `OAUTH_BASE_URL`. */
  readonly issuer: string
  /** `PLATFORM_MCP_REPLAY_TOKEN`: authenticates this server. */
  readonly credential: string
  readonly fetch?: typeof globalThis.fetch
  readonly now?: () => number
}

const timeoutMs = 1_000
/** How long an answer is cached: a revocation is noticed this late at most. */
const cacheMs = 30_000
const capacity = 1_000

/** The `iss` claim of a token; decoded, not verified. */
export const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** Token introspection (RFC 7662) with a cache, and a pause after a request that failed. */
export const introspection = (options: IntrospectionOptions): Introspect => {
  const { credential, fetch = globalThis.fetch, issuer, now = Date.now } = options
  const cache = new Map<string, { readonly state: Promise<TokenState>; readonly until: number }>()
  let pausedUntil = 0

  const introspect = async (token: string): Promise<TokenState> => {
    try {
      const response = await fetch(`${issuer}/api/v1/oauth/introspect`, {
        method: "POST",
        headers: { authorization: `Bearer ${credential}` },
        body: new URLSearchParams({ token }),
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs)
      })
      if (response.status !== 200) throw new Error(`status ${response.status}`)
      const { active } = await response.json() as { readonly active?: unknown }
      if (typeof active !== "boolean") throw new Error("an answer without active")
      return active ? "active" : "inactive"
    } catch {
      pausedUntil = now() + cacheMs
      return "unknown"
    }
  }

  return (token) => {
    const entry = cache.get(token)
    if (entry !== undefined && now() < entry.until) return entry.state
    if (now() < pausedUntil) return Promise.resolve("unknown")
    const state = introspect(token)
    cache.delete(token)
    cache.set(token, { state, until: now() + cacheMs })
    const [oldest] = cache.keys()
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest)
    return state
  }
}
