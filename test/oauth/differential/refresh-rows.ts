import {
  both,
  newTokens,
  nothing,
  post,
  refresh,
  refreshForm,
  type TokenSet,
  twice,
  verdict,
  without,
  withValue
} from "./requests.ts"
import { differ, same } from "./row.ts"
import { later, type Side } from "./sides.ts"

const send = async (side: Side, token: string) => {
  const answer = await post(side, "token", refreshForm(side, token))
  return { verdict: verdict(answer), next: (answer.body as TokenSet).refresh_token }
}

/** What happens after a refresh token was used. */
const used =
  (seconds: number, ask: (side: Side, old: string, next: string) => Promise<string>) => async (side: Side) => {
    const { refresh_token } = await newTokens(side)
    const { next } = await send(side, refresh_token)
    if (seconds > 0) later(seconds)
    return ask(side, refresh_token, next)
  }

export const refreshRows = [
  same("in order", "ok", refresh(nothing)),
  same("again and again", "ok", used(0, async (side, _old, next) => (await send(side, next)).verdict)),
  differ(
    "of one used a moment ago",
    "ok",
    "invalid_grant",
    "[9] within 60 seconds the same successor again: clients refresh from two addresses",
    used(0, async (side, old) => (await send(side, old)).verdict)
  ),
  same(
    "of one whose successor was used, a moment ago",
    "invalid_grant",
    used(0, async (side, old, next) => {
      await send(side, next)
      return (await send(side, old)).verdict
    })
  ),
  same(
    "after one whose successor was used: the newest",
    "invalid_grant",
    used(0, async (side, old, next) => {
      const newest = (await send(side, next)).next
      await send(side, old)
      return (await send(side, newest)).verdict
    })
  ),
  same("of one used two minutes ago", "invalid_grant", used(120, async (side, old) => (await send(side, old)).verdict)),
  same(
    "after one used two minutes ago: its successor",
    "invalid_grant",
    used(120, async (side, old, next) => {
      await send(side, old)
      return (await send(side, next)).verdict
    })
  ),
  same("without refresh_token", "invalid_request", refresh(without("refresh_token"))),
  same("with an empty refresh_token", "invalid_request", refresh(withValue("refresh_token", ""))),
  same("with an unknown refresh_token", "invalid_grant", refresh(withValue("refresh_token", "unknown"))),
  same("with a letter more in it", "invalid_grant", refresh(withValue("refresh_token", (_side, now) => `${now}x`))),
  same("with refresh_token twice", "invalid_request", refresh(twice("refresh_token"))),
  same(
    "with an access token for it",
    "invalid_grant",
    async (side) => (await send(side, (await newTokens(side)).access_token)).verdict
  ),
  same("with a code for it", "invalid_grant", async (side) => (await send(side, (await newTokens(side)).code)).verdict),
  same("without client_id", "invalid_request", refresh(without("client_id"))),
  same("of an unknown client", "invalid_client", refresh(withValue("client_id", "unknown"))),
  same("of another client", "invalid_grant", refresh(withValue("client_id", (side) => side.otherClientId))),
  same("with a client_secret", "invalid_client", refresh(withValue("client_secret", "secret"))),
  same("for the same scopes", "ok", refresh(withValue("scope", "mcp:read mcp:execute"))),
  differ(
    "for offline_access among them",
    "ok",
    "invalid_scope",
    "OpenID Core §11 grants offline_access only after prompt=consent; in RFC 6749 §6 it was granted, so it may be asked",
    refresh(withValue("scope", "mcp:read offline_access"))
  ),
  same("for fewer scopes", "ok", refresh(withValue("scope", "mcp:read"))),
  same("for more scopes", "invalid_scope", refresh(withValue("scope", "mcp:read mcp:write"))),
  same("for a scope nobody knows", "invalid_scope", refresh(withValue("scope", "unknown"))),
  same("with an empty scope", "ok", refresh(withValue("scope", ""))),
  same("with a quote in the scope", "invalid_scope", refresh(withValue("scope", "\"mcp:read\""))),
  same("with scope twice", "invalid_request", refresh(both(withValue("scope", "mcp:read"), twice("scope")))),
  same("for the same resource", "ok", refresh(withValue("resource", (side) => side.resource))),
  same("for the other resource", "invalid_target", refresh(withValue("resource", (side) => side.otherResource))),
  same("for an unknown resource", "invalid_target", refresh(withValue("resource", "https://elsewhere.example"))),
  same(
    "for the resource of another authorization",
    "invalid_target",
    refresh(
      withValue("resource", (side) => side.resource),
      {},
      withValue("resource", (side) => side.otherResource)
    )
  ),
  same("with a verifier, which has no meaning here", "ok", refresh(withValue("code_verifier", "a".repeat(43)))),
  same("of a set that was asked for without offline_access", "ok", async (side) => {
    const { refresh_token } = await newTokens(side, withValue("scope", "mcp:read"))
    return refresh_token === undefined ? "none" : (await send(side, refresh_token)).verdict
  })
]

/** The last of all: sessions do not live that long. */
export const monthRows = [
  same("of one 31 days old", "invalid_grant", async (side) => {
    const { refresh_token } = await newTokens(side)
    later(31 * 86_400)
    return (await send(side, refresh_token)).verdict
  })
]
