import { authorize, both, nothing, twice, verdict, without, withValue } from "./requests.ts"
import { differ, same } from "./row.ts"
import { app, loopback, web } from "./sides.ts"

const upper = (text: string) => text.replace(/^http:\/\/[^/]+/, (origin) => origin.toUpperCase())

export const authorizeRows = [
  same("in order", "code", authorize(nothing)),
  same("with a parameter nobody knows", "code", authorize(withValue("foo", "bar"))),
  same("without state", "code", authorize(without("state"))),
  same("with an empty state", "code", authorize(withValue("state", ""))),
  differ(
    "by POST",
    "405",
    "404",
    "RFC 6749 §3.1: POST is the server's choice; RFC 9110 §15.5.6: the path is known",
    async (side) => {
      const query = new URLSearchParams({ client_id: side.clientId, redirect_uri: web, response_type: "code" })
      return verdict(
        await side.send("authorize", "POST", {
          body: String(query),
          headers: { "content-type": "application/x-www-form-urlencoded" }
        })
      )
    }
  ),
  differ(
    "by PUT",
    "405",
    "404",
    "RFC 9110 §15.5.6: the path is known",
    async (side) => verdict(await side.send("authorize", "PUT"))
  ),

  same("without client_id", "page", authorize(without("client_id"))),
  same("with an empty client_id", "page", authorize(withValue("client_id", ""))),
  same("of an unknown client", "page", authorize(withValue("client_id", "unknown"))),
  same("with client_id twice", "page", authorize(twice("client_id"))),
  same("with another client_id beside it", "page", authorize(twice("client_id", (side) => side.otherClientId))),
  same("of another client with the same redirect", "code", authorize(withValue("client_id", (s) => s.otherClientId))),

  same("without redirect_uri", "page", authorize(without("redirect_uri"))),
  same("with an empty redirect_uri", "page", authorize(withValue("redirect_uri", ""))),
  same("with redirect_uri twice", "page", authorize(twice("redirect_uri"))),
  ...[
    ["of elsewhere", "https://attacker.example/callback"],
    ["with a path below", `${web}/more`],
    ["with the path cut", "https://client.example/"],
    ["with a query more", `${web}?next=https://attacker.example`],
    ["with a fragment", `${web}#x`],
    ["with another port", "https://client.example:8443/callback"],
    ["by http", "http://client.example/callback"],
    ["with a user name", "https://client.example@attacker.example/callback"],
    ["with the host in capitals", "https://CLIENT.example/callback"],
    ["with dot segments", "https://client.example/x/../callback"],
    ["encoded", "https://client.example/%63allback"],
    ["with a trailing slash", `${web}/`],
    ["that is no URI", "callback"],
    ["of a script", "javascript:alert(1)"],
    ["on a loopback name nobody registered", "http://localhost/callback"],
    ["on the other loopback address", "http://[::1]/callback"],
    ["on loopback by another path", "http://127.0.0.1:4321/other"],
    ["on loopback by https", "https://127.0.0.1/callback"],
    ["of an app by another path", "com.example.app:/other"]
  ].map(([what, uri]) => same(`with a redirect ${what}`, "page", authorize(withValue("redirect_uri", uri!)))),
  same(
    "with a loopback redirect on another port",
    "code",
    authorize(withValue("redirect_uri", "http://127.0.0.1:4321/callback"))
  ),
  same("with a loopback redirect as registered", "code", authorize(withValue("redirect_uri", loopback))),
  same("with an app's redirect", "code", authorize(withValue("redirect_uri", app))),

  differ(
    "without response_type",
    "code",
    "invalid_request",
    "the contract's query has no response_type, and there is one kind of answer (RFC 6749 §3.1.1)",
    authorize(without("response_type"))
  ),
  differ(
    "with an empty response_type",
    "code",
    "invalid_request",
    "RFC 6749 §3.1: a parameter without a value is one that was left out; see the row before",
    authorize(withValue("response_type", ""))
  ),
  same("with response_type twice", "invalid_request", authorize(twice("response_type"))),
  ...["token", "code token", "id_token", "none", "CODE"].map((type) =>
    same(`with response_type ${type}`, "unsupported_response_type", authorize(withValue("response_type", type)))
  ),
  differ(
    "with response_type code code",
    "unsupported_response_type",
    "code",
    "RFC 6749 §3.1.1: a value with a space is an extension's, and must be registered",
    authorize(withValue("response_type", "code code"))
  ),
  same("with response_mode query", "code", authorize(withValue("response_mode", "query"))),
  differ(
    "with response_mode nonsense",
    "invalid_request",
    "unsupported_response_mode",
    "RFC 6749 §4.1.2.1: an invalid parameter value is invalid_request; the other code is of no RFC",
    authorize(withValue("response_mode", "nonsense"))
  ),
  differ(
    "with response_mode fragment",
    "invalid_request",
    "code",
    "RFC 8414 §2: response_modes_supported names query alone",
    authorize(withValue("response_mode", "fragment"))
  ),

  same("without code_challenge", "invalid_request", authorize(without("code_challenge"))),
  same("without PKCE", "invalid_request", authorize(without("code_challenge", "code_challenge_method"))),
  same("without code_challenge_method", "invalid_request", authorize(without("code_challenge_method"))),
  same("with plain PKCE", "invalid_request", authorize(withValue("code_challenge_method", "plain"))),
  same("with S512 PKCE", "invalid_request", authorize(withValue("code_challenge_method", "S512"))),
  same("with s256 in small letters", "invalid_request", authorize(withValue("code_challenge_method", "s256"))),
  same("with an empty code_challenge", "invalid_request", authorize(withValue("code_challenge", ""))),
  same("with a short code_challenge", "invalid_request", authorize(withValue("code_challenge", "a".repeat(42)))),
  same("with a long code_challenge", "invalid_request", authorize(withValue("code_challenge", "a".repeat(129)))),
  differ(
    "with a code_challenge of 44 letters",
    "invalid_request",
    "code",
    "RFC 7636 §4.2: base64url of a SHA-256 has 43 characters; no verifier could ever fit",
    authorize(withValue("code_challenge", "a".repeat(44)))
  ),
  same(
    "with a code_challenge in base64",
    "invalid_request",
    authorize(withValue("code_challenge", `${"+/".repeat(21)}a`))
  ),
  same("with code_challenge twice", "invalid_request", authorize(twice("code_challenge"))),
  same("with code_challenge_method twice", "invalid_request", authorize(twice("code_challenge_method"))),

  differ(
    "without resource",
    "invalid_target",
    "access_denied",
    "[7] omitted: reject, and RFC 8707 §2 has the code for it",
    authorize(without("resource"))
  ),
  differ(
    "with an empty resource",
    "invalid_target",
    "access_denied",
    "[7] as if it were left out (RFC 6749 §3.1)",
    authorize(withValue("resource", ""))
  ),
  same("with an unknown resource", "invalid_target", authorize(withValue("resource", "https://elsewhere.example/mcp"))),
  same("with a resource that is no URI", "invalid_target", authorize(withValue("resource", "berth"))),
  same("with a fragment in the resource", "invalid_target", authorize(withValue("resource", (_s, now) => `${now}#x`))),
  differ(
    "with two resources",
    "invalid_target",
    "code",
    "[7] [15] a token is for one resource; RFC 8707 §2 lets the server refuse",
    authorize(twice("resource", (side) => side.otherResource))
  ),
  differ(
    "with the resource twice",
    "invalid_target",
    "code",
    "[7] [15] a token is for one resource; RFC 8707 §2 lets the server refuse",
    authorize(twice("resource"))
  ),
  same("with the other resource", "code", authorize(withValue("resource", (side) => side.otherResource))),
  differ(
    "with a slash behind the resource",
    "code",
    "invalid_target",
    "[7] a trailing slash is accepted; the canonical form has none",
    authorize(withValue("resource", (_s, now) => `${now}/`))
  ),
  differ(
    "with the resource's host in capitals",
    "code",
    "invalid_target",
    "[7] upper-case scheme and host are accepted (RFC 3986 §6.2.2.1)",
    authorize(withValue("resource", (_s, now) => upper(now)))
  ),
  same("with a query in the resource", "invalid_target", authorize(withValue("resource", (_s, now) => `${now}?a=b`))),

  differ(
    "without scope",
    "code",
    "access_denied",
    "RFC 6749 §3.3: a default, or a refusal; we have a default",
    authorize(without("scope"))
  ),
  differ(
    "with an empty scope",
    "code",
    "access_denied",
    "RFC 6749 §3.3: a default, or a refusal; we have a default",
    authorize(withValue("scope", ""))
  ),
  same("with a scope nobody knows beside others", "code", authorize(withValue("scope", "mcp:read unknown"))),
  differ(
    "with only a scope nobody knows",
    "invalid_scope",
    "access_denied",
    "RFC 6749 §4.1.2.1: an unknown scope is invalid_scope; nobody was asked who could have denied",
    authorize(withValue("scope", "unknown"))
  ),
  same("with a quote in the scope", "invalid_scope", authorize(withValue("scope", "mcp:read \"x\""))),
  same("with a line feed in the scope", "invalid_scope", authorize(withValue("scope", "mcp:read\nmcp:execute"))),
  same("with scope twice", "invalid_request", authorize(twice("scope"))),
  same("with state twice", "invalid_request", authorize(twice("state"))),
  differ(
    "with an unknown parameter twice",
    "invalid_request",
    "code",
    "[8] RFC 6749 §3.1: parameters must not be included more than once, without exception",
    authorize(both(withValue("foo", "1"), twice("foo")))
  ),
  same("with a request object", "request_not_supported", authorize(withValue("request", "eyJhbGciOiJub25lIn0.e30."))),
  same(
    "with a request_uri",
    "request_uri_not_supported",
    authorize(withValue("request_uri", "https://attacker.example/request"))
  )
]
