import { decodeJwt } from "jose"

/** `unknown`: the authorization server could not be asked. */
export type TokenState = "active" | "inactive" | "unknown"
export type Introspect = (token: string) => Promise<TokenState>

export interface IntrospectionOptions {
  /** `OAUTH_BASE_URL`. */
  readonly issuer: string
  /** `PLATFORM_MCP_REPLAY_TOKEN`: who asks. */
  readonly credential: string
  readonly fetch?: typeof globalThis.fetch
  readonly now?: () => number
}

const timeoutMs = 1_000
/** A revocation is noticed by then. */
const rememberMs = 30_000
const capacity = 1_000

/** Who says to have issued a token; read, not verified. */
export const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** Asks whether a token is active (RFC 7662), once for a while; not at all for a while when nobody answered. */
export const introspection = (options: IntrospectionOptions): Introspect => {
  const { credential, fetch = globalThis.fetch, issuer, now = Date.now } = options
  const known = new Map<string, { readonly state: Promise<TokenState>; readonly until: number }>()
  let silentUntil = 0

  const ask = async (token: string): Promise<TokenState> => {
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
      silentUntil = now() + rememberMs
      return "unknown"
    }
  }

  return (token) => {
    const entry = known.get(token)
    if (entry !== undefined && now() < entry.until) return entry.state
    if (now() < silentUntil) return Promise.resolve("unknown")
    const state = ask(token)
    known.delete(token)
    known.set(token, { state, until: now() + rememberMs })
    const [oldest] = known.keys()
    if (known.size > capacity && oldest !== undefined) known.delete(oldest)
    return state
  }
}
