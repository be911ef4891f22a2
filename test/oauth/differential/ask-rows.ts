import {
  introspect,
  newTokens,
  nothing,
  post,
  refreshForm,
  revoke,
  twice,
  verdict,
  without,
  withValue
} from "./requests.ts"
import { differ, same } from "./row.ts"
import { later, type Side } from "./sides.ts"

const refreshes = async (side: Side, token: string) => verdict(await post(side, "token", refreshForm(side, token)))

/** Revokes one of a fresh set, and tells what becomes of the other. */
const ends =
  (which: "access_token" | "refresh_token", change: (form: URLSearchParams, side: Side) => void = () => {}) =>
  async (side: Side) => {
    const tokens = await newTokens(side)
    const form = new URLSearchParams({ token: tokens[which], client_id: side.clientId })
    change(form, side)
    await post(side, "revoke", form)
    return refreshes(side, tokens.refresh_token)
  }

export const revokeRows = [
  same("in order", "ok", revoke(nothing)),
  same("with a hint", "ok", revoke(withValue("token_type_hint", "refresh_token"))),
  same("with a wrong hint", "ok", revoke(withValue("token_type_hint", "access_token"))),
  same("with a hint nobody knows", "ok", revoke(withValue("token_type_hint", "magic"))),
  same("of an unknown token", "ok", revoke(withValue("token", "unknown"))),
  same("without token", "invalid_request", revoke(without("token"))),
  same("with an empty token", "invalid_request", revoke(withValue("token", ""))),
  same("with token twice", "invalid_request", revoke(twice("token"))),
  same("without client_id", "invalid_request", revoke(without("client_id"))),
  same("of an unknown client", "invalid_client", revoke(withValue("client_id", "unknown"))),
  differ(
    "of another client",
    "invalid_grant",
    "ok",
    "[12] RFC 7009 §2.1: the request is refused and the client informed; either way the token stands",
    revoke(withValue("client_id", (side) => side.otherClientId))
  ),
  same("with client_id twice", "invalid_request", revoke(twice("client_id"))),
  same("with a client_secret", "invalid_client", revoke(withValue("client_secret", "secret"))),
  same("as JSON", "invalid_request", revoke(nothing, { body: "{}", headers: { "content-type": "application/json" } })),
  differ(
    "by GET",
    "invalid_request",
    "404",
    "RFC 7009 §2.1: POST alone; refused by both, by us with an error a client can read",
    async (side) => verdict(await side.send("revoke", "GET"))
  ),
  same("of a refresh token: the refresh token then", "invalid_grant", ends("refresh_token")),
  same("of an access token: the refresh token then", "invalid_grant", ends("access_token")),
  same(
    "by another client: the refresh token then",
    "ok",
    ends("refresh_token", withValue("client_id", (side) => side.otherClientId))
  )
]

export const introspectRows = [
  same("of an access token", "active", introspect((tokens) => tokens.access_token)),
  same(
    "of an access token, with a hint",
    "active",
    introspect(
      (tokens) => tokens.access_token,
      withValue("token_type_hint", "access_token")
    )
  ),
  same(
    "of an access token, with a wrong hint",
    "active",
    introspect(
      (tokens) => tokens.access_token,
      withValue("token_type_hint", "refresh_token")
    )
  ),
  differ(
    "of a refresh token",
    "inactive",
    "active",
    "[12] RFC 7662 §4: a server is told of access tokens for it; refresh tokens are none of its business",
    introspect((tokens) => tokens.refresh_token)
  ),
  same("of a code", "inactive", introspect((tokens) => tokens.code)),
  same("of nonsense", "inactive", introspect(() => "nonsense")),
  same("of a token with a letter more", "inactive", introspect((tokens) => `${tokens.access_token}x`)),
  differ(
    "of an access token for another server",
    "inactive",
    "active",
    "[12] RFC 7662 §2.2: what is active may depend on who asks; A's token is none at B",
    introspect(
      (tokens) => tokens.access_token,
      nothing,
      {},
      withValue("resource", (side) => side.otherResource)
    )
  ),
  same(
    "of an access token that was revoked",
    "inactive",
    introspect(async (tokens, side) => {
      await post(side, "revoke", new URLSearchParams({ token: tokens.access_token, client_id: side.clientId }))
      return tokens.access_token
    })
  ),
  same(
    "of an access token whose refresh token was revoked",
    "inactive",
    introspect(async (tokens, side) => {
      await post(side, "revoke", new URLSearchParams({ token: tokens.refresh_token, client_id: side.clientId }))
      return tokens.access_token
    })
  ),
  same(
    "of an access token 16 minutes old",
    "inactive",
    introspect((tokens) => {
      later(16 * 60)
      return tokens.access_token
    })
  ),
  same("without token", "invalid_request", introspect((tokens) => tokens.access_token, without("token"))),
  same("with token twice", "invalid_request", introspect((tokens) => tokens.access_token, twice("token"))),
  differ(
    "by nobody",
    "invalid_token",
    "invalid_request",
    "[12] RFC 7662 §2.1, §2.3: whoever asks must prove to be a server here, by Bearer: 401 as RFC 6750 §3 has it",
    introspect((tokens) => tokens.access_token, nothing, { headers: {} })
  ),
  differ(
    "by an unknown Bearer",
    "invalid_token",
    "invalid_request",
    "[12] RFC 7662 §2.1, §2.3: whoever asks must prove to be a server here, by Bearer: 401 as RFC 6750 §3 has it",
    introspect((tokens) => tokens.access_token, nothing, {
      headers: { authorization: "Bearer unknown" }
    })
  ),
  differ(
    "by an unknown client",
    "invalid_token",
    "invalid_client",
    "[12] RFC 7662 §2.1, §2.3: whoever asks must prove to be a server here, by Bearer: 401 as RFC 6750 §3 has it",
    introspect((tokens) => tokens.access_token, nothing, {
      headers: { authorization: `Basic ${Buffer.from("unknown:secret").toString("base64")}` }
    })
  ),
  differ(
    "by the public client itself",
    "invalid_token",
    "active",
    "[12] RFC 7662 §2.1, §2.3: whoever asks must prove to be a server here, by Bearer: 401 as RFC 6750 §3 has it",
    introspect(
      (tokens) => tokens.access_token,
      withValue("client_id", (side) => side.clientId),
      { headers: {} }
    )
  ),
  differ(
    "by GET",
    "invalid_request",
    "404",
    "RFC 7662 §2.1: POST alone; refused by both, by us with an error a client can read",
    async (side) => verdict(await side.send("introspect", "GET", { headers: { authorization: side.introspector } }))
  )
]
