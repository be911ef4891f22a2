import { type Sent } from "../../support/http.ts"
import {
  both,
  codeForm,
  exchange,
  newCode,
  newTokens,
  nothing,
  post,
  refreshForm,
  twice,
  verdict,
  without,
  withValue
} from "./requests.ts"
import { differ, same } from "./row.ts"
import { later, newVerifier, type Side, web } from "./sides.ts"

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`
})
const formed = (headers: Readonly<Record<string, string>>): Sent => ({ headers })

/** A code that is exchanged, and then once more. */
const again =
  (ask: (side: Side, form: URLSearchParams, refreshToken: string) => Promise<string>) => async (side: Side) => {
    const form = codeForm(side, await newCode(side))
    const first = await post(side, "token", form)
    return ask(side, form, (first.body as { readonly refresh_token: string }).refresh_token)
  }
const send = async (side: Side, form: URLSearchParams) => verdict(await post(side, "token", form))

export const tokenRows = [
  same("in order", "ok", exchange(nothing)),
  same("with a parameter nobody knows", "ok", exchange(withValue("foo", "bar"))),
  same("with a scope, which has no meaning here", "ok", exchange(withValue("scope", "mcp:read"))),

  same("without grant_type", "invalid_request", exchange(without("grant_type"))),
  same("with an empty grant_type", "invalid_request", exchange(withValue("grant_type", ""))),
  same("with grant_type twice", "invalid_request", exchange(twice("grant_type"))),
  ...["password", "client_credentials", "implicit", "AUTHORIZATION_CODE", "__proto__"].map((type) =>
    same(`with grant_type ${type}`, "unsupported_grant_type", exchange(withValue("grant_type", type)))
  ),

  same("without code", "invalid_request", exchange(without("code"))),
  same("with an empty code", "invalid_request", exchange(withValue("code", ""))),
  same("with an unknown code", "invalid_grant", exchange(withValue("code", "unknown"))),
  same("with code twice", "invalid_request", exchange(twice("code"))),
  same("with a letter more in the code", "invalid_grant", exchange(withValue("code", (_side, now) => `${now}x`))),
  same("with a NUL in the code", "invalid_grant", exchange(withValue("code", "\0"))),
  same("of a code six minutes old", "invalid_grant", async (side) => {
    const form = codeForm(side, await newCode(side))
    later(360)
    return send(side, form)
  }),
  same("of a code used before", "invalid_grant", again(send)),
  same(
    "of a code used before: its refresh token",
    "invalid_grant",
    again(async (side, form, token) => {
      await send(side, form)
      return send(side, refreshForm(side, token))
    })
  ),
  same("after one that failed: the code", "ok", async (side) => {
    const form = codeForm(side, await newCode(side))
    const wrong = new URLSearchParams(form)
    wrong.set("code_verifier", newVerifier())
    await send(side, wrong)
    return send(side, form)
  }),
  same("with a refresh token for a code", "invalid_grant", async (side) => {
    const tokens = await newTokens(side)
    return send(side, codeForm(side, { ...tokens, code: tokens.refresh_token }))
  }),

  same("without redirect_uri", "invalid_request", exchange(without("redirect_uri"))),
  same("with an empty redirect_uri", "invalid_request", exchange(withValue("redirect_uri", ""))),
  same(
    "with another registered redirect_uri",
    "invalid_grant",
    exchange(withValue("redirect_uri", "https://client.example/other"))
  ),
  same(
    "with a redirect_uri of elsewhere",
    "invalid_grant",
    exchange(withValue("redirect_uri", "https://attacker.example/"))
  ),
  same("with redirect_uri twice", "invalid_request", exchange(twice("redirect_uri"))),
  same(
    "with the loopback port it was authorized for",
    "ok",
    exchange(nothing, {}, withValue("redirect_uri", "http://127.0.0.1:4321/callback"))
  ),
  same(
    "with another loopback port",
    "invalid_grant",
    exchange(
      withValue("redirect_uri", "http://127.0.0.1:4322/callback"),
      {},
      withValue("redirect_uri", "http://127.0.0.1:4321/callback")
    )
  ),

  differ(
    "without code_verifier",
    "invalid_request",
    "invalid_grant",
    "RFC 6749 §5.2: a required parameter is missing",
    exchange(without("code_verifier"))
  ),
  differ(
    "with an empty code_verifier",
    "invalid_request",
    "invalid_grant",
    "RFC 6749 §3.2: without a value it is left out; §5.2: a required parameter is missing",
    exchange(withValue("code_verifier", ""))
  ),
  same("with another code_verifier", "invalid_grant", exchange(withValue("code_verifier", newVerifier()))),
  differ(
    "with a short code_verifier",
    "invalid_grant",
    "invalid_request",
    "[6] RFC 7636 §4.6: what does not fit is invalid_grant, however it is written",
    exchange(withValue("code_verifier", "a".repeat(42)))
  ),
  differ(
    "with a long code_verifier",
    "invalid_grant",
    "invalid_request",
    "[6] RFC 7636 §4.6: what does not fit is invalid_grant, however it is written",
    exchange(withValue("code_verifier", "a".repeat(129)))
  ),
  differ(
    "with a code_verifier in wrong letters",
    "invalid_grant",
    "invalid_request",
    "[6] RFC 7636 §4.6: what does not fit is invalid_grant, however it is written",
    exchange(withValue("code_verifier", "+".repeat(43)))
  ),
  same("with code_verifier twice", "invalid_request", exchange(twice("code_verifier"))),
  same(
    "with a letter more in the code_verifier",
    "invalid_grant",
    exchange(withValue("code_verifier", (_side, now) => `${now}x`))
  ),

  same("without client_id", "invalid_request", exchange(without("client_id"))),
  same("with an empty client_id", "invalid_request", exchange(withValue("client_id", ""))),
  same("of an unknown client", "invalid_client", exchange(withValue("client_id", "unknown"))),
  same("of another client", "invalid_grant", exchange(withValue("client_id", (side) => side.otherClientId))),
  same("with client_id twice", "invalid_request", exchange(twice("client_id"))),
  same("with a client_secret", "invalid_client", exchange(withValue("client_secret", "secret"))),
  same("with an empty client_secret", "ok", exchange(withValue("client_secret", ""))),
  differ(
    "with a client_assertion",
    "invalid_client",
    "ok",
    "RFC 6749 §5.2: an unsupported way to authenticate is invalid_client, with 401 when it was tried in the header",
    exchange(
      both(
        withValue("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        withValue("client_assertion", "eyJhbGciOiJub25lIn0.e30.")
      )
    )
  ),
  same("by Basic", "invalid_client", exchange(without("client_id"), (side) => formed(basic(side.clientId, "secret")))),
  differ(
    "by Basic without a secret",
    "invalid_client",
    "invalid_request",
    "RFC 6749 §5.2: an unsupported way to authenticate is invalid_client, with 401 when it was tried in the header",
    exchange(without("client_id"), (side) => formed(basic(side.clientId, "")))
  ),
  same(
    "by Basic beside client_id",
    "invalid_client",
    exchange(nothing, (side) => formed(basic(side.clientId, "secret")))
  ),
  differ(
    "by Basic of an unknown client",
    "invalid_client",
    "invalid_request",
    "RFC 6749 §5.2: an unsupported way to authenticate is invalid_client, with 401 when it was tried in the header",
    exchange(nothing, formed(basic("unknown", "secret")))
  ),
  differ(
    "by a Bearer token",
    "invalid_client",
    "invalid_request",
    "RFC 6749 §5.2: an unsupported way to authenticate is invalid_client, with 401 when it was tried in the header",
    exchange(nothing, formed({ authorization: "Bearer x" }))
  ),

  same("without resource", "ok", exchange(without("resource"))),
  same("with an empty resource", "ok", exchange(withValue("resource", ""))),
  same("for the other resource", "invalid_target", exchange(withValue("resource", (side) => side.otherResource))),
  same("for an unknown resource", "invalid_target", exchange(withValue("resource", "https://elsewhere.example"))),
  same("for two resources", "invalid_target", exchange(twice("resource", (side) => side.otherResource))),
  same("for the resource twice", "invalid_target", exchange(twice("resource"))),
  differ(
    "with a slash behind the resource",
    "ok",
    "invalid_target",
    "[7] a trailing slash is accepted; the canonical form has none",
    exchange(withValue("resource", (_side, now) => `${now}/`))
  ),

  same(
    "as JSON",
    "invalid_request",
    exchange(nothing, {
      body: JSON.stringify({ grant_type: "authorization_code" }),
      headers: { "content-type": "application/json" }
    })
  ),
  same("as text", "invalid_request", exchange(nothing, { headers: { "content-type": "text/plain" } })),
  same(
    "as multipart",
    "invalid_request",
    exchange(nothing, { headers: { "content-type": "multipart/form-data; boundary=x" } })
  ),
  same(
    "with a charset in the type",
    "ok",
    exchange(nothing, {
      headers: { "content-type": "application/x-www-form-urlencoded; charset=UTF-8" }
    })
  ),
  same("of no bytes", "invalid_request", exchange(nothing, { body: "" })),
  same("of 70,000 bytes", "invalid_request", exchange(nothing, { body: `token=${"x".repeat(70_000)}` })),
  differ(
    "by GET",
    "invalid_request",
    "404",
    "RFC 6749 §3.2: POST alone; refused by both, by us with an error a client can read",
    async (side) => {
      const query = codeForm(side, await newCode(side))
      return verdict(await side.send("token", "GET", { query: `?${query}` }))
    }
  ),
  same("with its parameters in the query", "invalid_request", async (side) => {
    const query = codeForm(side, await newCode(side))
    return verdict(
      await side.send("token", "POST", {
        query: `?${query}`,
        headers: { "content-type": "application/x-www-form-urlencoded" }
      })
    )
  }),
  same(
    "of a redirect not registered any more but authorized",
    "ok",
    exchange(nothing, {}, withValue("redirect_uri", web))
  )
]
