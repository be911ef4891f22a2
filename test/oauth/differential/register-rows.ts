import { register, verdict } from "./requests.ts"
import { differ, same } from "./row.ts"

const redirects = (...redirect_uris: ReadonlyArray<unknown>) => register({ redirect_uris })

export const registerRows = [
  same("in order", "ok", register({})),
  same("with a name alone left out", "ok", register({ client_name: undefined })),
  same("with metadata nobody knows", "ok", register({ foo: "bar" })),
  same("without grant_types", "ok", register({ grant_types: undefined })),
  same("without response_types", "ok", register({ response_types: undefined })),
  same("without token_endpoint_auth_method", "ok", register({ token_endpoint_auth_method: undefined })),
  same("without application_type", "ok", register({ application_type: undefined })),
  same("for client_secret_basic", "ok", register({ token_endpoint_auth_method: "client_secret_basic" })),
  same("for client_secret_post", "ok", register({ token_endpoint_auth_method: "client_secret_post" })),
  same(
    "for private_key_jwt",
    "invalid_client_metadata",
    register({ token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://client.example/jwks" })
  ),
  same("for an unknown auth method", "invalid_client_metadata", register({ token_endpoint_auth_method: "magic" })),
  same("with a client_id of its own", "ok", register({ client_id: "https://attacker.example/client.json" })),
  same("with a client_secret of its own", "ok", register({ client_secret: "secret" })),

  same("without redirect_uris", "invalid_redirect_uri", register({ redirect_uris: undefined })),
  same("with no redirect_uris", "invalid_redirect_uri", redirects()),
  same(
    "with a text for redirect_uris",
    "invalid_redirect_uri",
    register({ redirect_uris: "https://client.example/callback" })
  ),
  same("with a number among them", "invalid_redirect_uri", redirects(1)),
  same("with null among them", "invalid_redirect_uri", redirects(null)),
  ...[
    ["of a script", "javascript:alert(1)"],
    ["of data", "data:text/html,x"],
    ["of a file", "file:///etc/passwd"],
    ["of a blob", "blob:https://client.example/x"],
    ["of vbscript", "vbscript:x"],
    ["of about", "about:blank"],
    ["by http", "http://client.example/callback"],
    ["with a fragment", "https://client.example/callback#x"],
    ["with an empty fragment", "https://client.example/callback#"],
    ["that is no URI", "callback"],
    ["that is empty", ""]
  ].map(([what, uri]) => same(`with a redirect ${what}`, "invalid_redirect_uri", redirects(uri))),
  ...([
    [
      "with a user name",
      "https://user:secret@client.example/callback",
      "RFC 9110 §4.2.4: user names in http(s) URIs mislead"
    ],
    ["with blanks", "https://client.example/call back", "RFC 3986 §2: a blank is in no URI"],
    [
      "with a backslash",
      "https://client.example\\\\@attacker.example/",
      "RFC 3986 §2: parsers read a backslash differently"
    ],
    ["with a wildcard host", "https://*.client.example/callback", "[4] redirects match exactly; RFC 9700 §2.1"],
    ["to a mail program", "mailto:x@example.com", "[3] a private-use scheme is an app's own (RFC 8252 §7.1)"],
    ["of Windows' own", "ms-msdt:/id", "[3] a private-use scheme is an app's own (RFC 8252 §7.1)"],
    [
      "without slashes",
      "https:client.example/callback",
      "RFC 6749 §3.1.2: absolute; http URIs have an authority (RFC 9110 §4.2.2)"
    ]
  ] as const).map(([what, uri, because]) =>
    differ(`with a redirect ${what}`, "invalid_redirect_uri", "ok", because, redirects(uri))
  ),
  ...([
    ["on loopback by https", "https://127.0.0.1/callback"],
    ["on localhost by https", "https://localhost/callback"]
  ] as const).map(([what, uri]) =>
    differ(
      `with a redirect ${what}`,
      "ok",
      "invalid_redirect_uri",
      "[3] https redirects are taken; treated as loopback, so never approved unasked [10]",
      redirects(uri)
    )
  ),
  ...[
    ["on localhost", "http://localhost/callback"],
    ["on localhost with a port", "http://localhost:3000/callback"],
    ["on 127.0.0.1", "http://127.0.0.1/callback"],
    ["on [::1]", "http://[::1]/callback"],
    ["of an app", "com.example.app:/callback"],
    ["of an editor", "cursor://anysphere.cursor-retrieval/oauth/callback"],
    ["with a query", "https://client.example/callback?a=b"]
  ].map(([what, uri]) => same(`with a redirect ${what}`, "ok", redirects(uri))),
  same(
    "on localhost without application_type",
    "ok",
    register({
      redirect_uris: ["http://localhost/callback"],
      application_type: undefined
    })
  ),
  differ(
    "by http without application_type",
    "invalid_redirect_uri",
    "ok",
    "[11] http redirects that are not loopback are rejected, whatever the client calls itself",
    register({
      redirect_uris: ["http://client.example/callback"],
      application_type: undefined
    })
  ),
  differ(
    "of an app without application_type",
    "ok",
    "invalid_redirect_uri",
    "[4] real clients omit application_type; RFC 7591 does not know it",
    register({
      redirect_uris: ["com.example.app:/callback"],
      application_type: undefined
    })
  ),
  same(
    "with one good redirect and one bad",
    "invalid_redirect_uri",
    redirects("https://client.example/", "javascript:x")
  ),

  same(
    "for the implicit grant alone",
    "invalid_client_metadata",
    register({ grant_types: ["implicit"], response_types: ["token"] })
  ),
  same(
    "for client_credentials alone",
    "invalid_client_metadata",
    register({ grant_types: ["client_credentials"], response_types: [] })
  ),
  same("for refresh_token beside the code", "ok", register({ grant_types: ["authorization_code", "refresh_token"] })),
  same("for an unknown grant", "invalid_client_metadata", register({ grant_types: ["magic"] })),
  differ(
    "for an unknown grant beside the code",
    "ok",
    "invalid_client_metadata",
    "RFC 7591 §2: the server may replace what it does not have, and says so in its answer",
    register({ grant_types: ["authorization_code", "magic"] })
  ),
  same("for response_type token", "invalid_client_metadata", register({ response_types: ["token"] })),
  differ(
    "for response_type token beside code",
    "ok",
    "invalid_client_metadata",
    "RFC 7591 §2: the server may replace what it does not have, and says so in its answer",
    register({ response_types: ["code", "token"] })
  ),
  same("with a text for grant_types", "invalid_client_metadata", register({ grant_types: "authorization_code" })),
  same("with a number for client_name", "invalid_client_metadata", register({ client_name: 1 })),
  same("with an empty client_name", "invalid_client_metadata", register({ client_name: "" })),
  same("with a bad scope", "invalid_client_metadata", register({ scope: "\"x\"" })),
  differ(
    "with scopes",
    "ok",
    "invalid_client_metadata",
    "RFC 7591 §2: scope is what the client may ask for; the oracle knows its static scopes alone there",
    register({ scope: "mcp:read offline_access" })
  ),
  same(
    "with jwks and jwks_uri",
    "invalid_client_metadata",
    register({ jwks: { keys: [] }, jwks_uri: "https://client.example/jwks" })
  ),

  differ(
    "of an array",
    "invalid_client_metadata",
    "invalid_request",
    "RFC 7591 §3.2.2 lists the codes of a refused registration; invalid_request is none of them",
    register({}, { body: [] })
  ),
  differ(
    "of null",
    "invalid_client_metadata",
    "invalid_request",
    "RFC 7591 §3.2.2 lists the codes of a refused registration; invalid_request is none of them",
    register({}, { body: "null" })
  ),
  differ(
    "of no JSON",
    "invalid_client_metadata",
    "invalid_request",
    "RFC 7591 §3.2.2 lists the codes of a refused registration; invalid_request is none of them",
    register({}, { body: "{" })
  ),
  differ(
    "of no bytes",
    "invalid_client_metadata",
    "invalid_request",
    "RFC 7591 §3.2.2 lists the codes of a refused registration; invalid_request is none of them",
    register({}, { body: "" })
  ),
  same(
    "as a form",
    "invalid_request",
    register({}, {
      body: "redirect_uris=https://client.example/callback",
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
  ),
  differ(
    "by GET",
    "invalid_request",
    "404",
    "RFC 7591 §3: POST alone; refused by both, by us with an error a client can read",
    async (side) => verdict(await side.send("register", "GET"))
  )
]
