import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

/** Tests below `test/`: file, and how the title of the test or of its suite reads there. */
type Tests = ReadonlyArray<readonly [file: string, title: string]>

/** The lines of the checklist for OAuth, each with the tests that hold it. */
const lines: ReadonlyArray<readonly [rule: string, ...tests: Tests]> = [
  [
    "1 metadata at every well-known form",
    [
      "conformance/rfc8414/metadata.test.ts",
      "is at the well-known URL, and its issuer is the base it was found at, to the byte"
    ],
    ["conformance/rfc8414/metadata.test.ts", "of an issuer with a path is there at the path inserted and appended"],
    ["oauth/oauth4webapi.test.ts", "[1] discovers the server by OAuth's well-known URL and by OpenID's"]
  ],
  [
    "2 what metadata says",
    ["conformance/rfc8414/metadata.test.ts", "[2] says what there is: S256, no secrets, iss, metadata documents"]
  ],
  [
    "3 redirects and PKCE",
    ["conformance/rfc7636/pkce.test.ts", "[3] RFC 7636: PKCE"],
    ["oauth/authorize.test.ts", "[3] PKCE"],
    ["oauth/clients-redirect-uri.test.ts", "a redirect URI [row 3, row 11]"]
  ],
  [
    "4 unknown client or bad redirect: a page, never a redirect",
    ["oauth/authorize.test.ts", "[4] an unknown client or a bad redirect is shown, never redirected"],
    ["oauth/clients-redirect-uri.test.ts", "the redirect of an authorization request [row 4]"]
  ],
  ["5 redirect_uri at the token endpoint", [
    "oauth/tokens.test.ts",
    "[5] wants the redirect_uri of the authorization, port included"
  ]],
  [
    "6 codes once, and a replay revokes",
    ["oauth/tokens.test.ts", "[6] a code"],
    ["oauth/tokens.test.ts", "is good once: a replay revokes what was issued from it"],
    ["conformance/rfc7636/pkce.test.ts", "§4.6: a wrong verifier is invalid_grant, and does not burn the code"]
  ],
  [
    "7 resource",
    ["conformance/rfc8707/resource.test.ts", "[7] RFC 8707: resource indicators"],
    ["oauth/authorize.test.ts", "[7] resource"],
    ["oauth/tokens.test.ts", "[7] may leave out the resource, or write it differently, but not swap it"]
  ],
  [
    "8 state, iss, duplicates, 303",
    ["oauth/authorize.test.ts", "[8] the answer"],
    ["conformance/rfc9207/issuer.test.ts", "[8] RFC 9207: iss in the authorization response"],
    ["conformance/rfc6749/token-endpoint.test.ts", "§4.1.2 sends the code back by 303"]
  ],
  [
    "9 refresh tokens rotate",
    ["oauth/tokens.test.ts", "[9] a refresh token"],
    [
      "conformance/rfc6749/token-endpoint.test.ts",
      "[9] gives the same successor within a minute, and ends the family after"
    ],
    ["conformance/rfc6749/token-endpoint.test.ts", "§5.1 answers with no-store and what the RFC lists"]
  ],
  [
    "10 consent",
    ["oauth/authorize.test.ts", "[10] consent"],
    ["http/pages-render.test.ts", "warns of a redirect to a program or an app on the device, and of no other"],
    ["http/pages.test.ts", "is for the page that was shown: a ticket is good for its user, session and query alone"],
    ["http/pages.test.ts", "is never framed, cached or scripted, and sends its forms to us"]
  ],
  [
    "11 dynamic registration",
    ["oauth/clients.test.ts", "a client that registers itself [row 11]"],
    [
      "conformance/rfc7591/registration.test.ts",
      "never makes an id that looks like a URL, even when the client proposes one [row 11]"
    ],
    ["conformance/rfc7591/registration.test.ts", "is invalid_redirect_uri for %s [row 11]"]
  ],
  [
    "12 revocation and introspection",
    ["conformance/rfc7009/revocation.test.ts", "[12] RFC 7009: revocation"],
    ["conformance/rfc7662/introspection.test.ts", "[12] RFC 7662: introspection"]
  ],
  [
    "13 protected-resource documents",
    ["mcp/oauth.test.ts", "13 [RS] the protected-resource document of our own MCP door"],
    ["gateway/authorization.test.ts", "describes itself to anybody, in the form that was asked for (RFC 9728)"],
    [
      "oauth/oauth4webapi.test.ts",
      "[13] [14] is led from the challenge of a bare request to the resource and its authorization server"
    ]
  ],
  [
    "14 challenges",
    ["mcp/oauth.test.ts", "14 [RS] a 401 at our own MCP door"],
    ["gateway/scopes-gateway.test.ts", "14 [RS] too little scope at a hosted server"],
    [
      "gateway/authorization.test.ts",
      "refuses whoever comes without a token, and says where to get one in the form that was used"
    ]
  ],
  [
    "15 what a token must be",
    ["mcp/oauth.test.ts", "15 [RS] a token of our own authorization server"],
    ["oauth/access-tokens.test.ts", "for two servers"],
    ["oauth/access-tokens.test.ts", "whose HMAC was made with our public key (algorithm confusion) is refused"],
    ["gateway/authorization.test.ts", "refuses every token that is not its own: nothing reaches the machine"],
    ["mcp/door.test.ts", "stop obeying a credential that was taken back"]
  ],
  [
    "16 origins, revisions, CORS, byoa",
    ["mcp/oauth.test.ts", "16 [RS] our own MCP door"],
    ["gateway/cors-documents.test.ts", "16 [RS] a client in a browser's page"],
    [
      "gateway/authorization.test.ts",
      "in byoa mode gets any well-formed Bearer token as it came, and nothing of the customer's is fetched"
    ]
  ],
  [
    "17 client metadata documents: what may be one",
    ["oauth/clients-rules.test.ts", "a client id that is a URL [row 17]"],
    ["oauth/clients-rules.test.ts", "a client's metadata document [row 17]"],
    ["oauth/clients-documents.test.ts", "the host of a metadata document [row 17]"]
  ],
  [
    "18 client metadata documents: how long it counts",
    ["oauth/clients-documents.test.ts", "a metadata document that was fetched [row 18]"],
    [
      "oauth/authorize.test.ts",
      "[18] is asked for again when the client's redirects change, and not when their order does"
    ],
    ["http/pages-render.test.ts", "holds no script, no handler, no style attribute, and nothing of elsewhere"]
  ]
]

/** Attacks, each with the tests in which it is tried and refused. */
const attacks: ReadonlyArray<readonly [attack: string, ...tests: Tests]> = [
  [
    "cross-server token",
    ["conformance/rfc8707/resource.test.ts", "token of another server: A's token at B is 401"],
    ["gateway/authorization.test.ts", "refuses every token that is not its own: nothing reaches the machine"]
  ],
  ["aud array", ["oauth/access-tokens.test.ts", "for a list of one"], [
    "oauth/access-tokens.test.ts",
    "for two servers"
  ]],
  [
    "resource swap, at the exchange and at refresh",
    [
      "conformance/rfc8707/resource.test.ts",
      "§2.2, resource swap: authorized for A, exchanged or refreshed for B, is invalid_target"
    ]
  ],
  ["code replay", ["oauth/tokens.test.ts", "is good once: a replay revokes what was issued from it"]],
  ["refresh replay", ["oauth/tokens.test.ts", "that comes again later revokes the family"]],
  [
    "mix-up",
    [
      "oauth/oauth4webapi.test.ts",
      "[8] mix-up: the answer of another issuer, without iss or with another state is refused by it"
    ],
    [
      "conformance/rfc9207/issuer.test.ts",
      "§2: is there once, with the metadata's issuer, on success, on errors and when the user says no"
    ]
  ],
  [
    "open redirect",
    ["oauth/authorize.test.ts", "redirects that were not registered"],
    ["http/pages.test.ts", "shows what can't be told to a client on a page, and redirects nowhere"],
    ["http/pages.test.ts", "leads back to the request and nowhere else, whatever the query says"]
  ],
  [
    "SSRF",
    [
      "oauth/clients-documents.test.ts",
      "is not asked at all when the URL can't be an id, or leads into a private network"
    ],
    ["oauth/clients-documents.test.ts", "answers 200 and nothing else; where it redirects to is never asked"],
    ["shared/guarded-http.test.ts", "asks the resolver once and connects only to the answer it checked (rebinding)"],
    ["shared/guarded-http.test.ts", "hands a redirect to its caller instead of following it"],
    ["shared/guarded-http.test.ts", "refuses a name that resolves to %s"],
    ["shared/guarded-http.test.ts", "a private answer"],
    ["shared/guarded-http.test.ts", "an IPv4-mapped address"],
    ["shared/guarded-http.test.ts", "NAT64"],
    ["shared/guarded-http.test.ts", "6to4"],
    ["shared/guarded-http.test.ts", "one private record among public ones"],
    ["shared/guarded-addresses.test.ts", "IPv4-mapped private"],
    ["shared/guarded-addresses.test.ts", "NAT64 of a private one"],
    ["shared/guarded-addresses.test.ts", "6to4 of a private one"]
  ],
  [
    "host spoofing",
    ["gateway/framing.test.ts", "two Host headers"],
    ["gateway/framing.test.ts", "an absolute target of another host"],
    ["gateway/framing.test.ts", "says itself where a request came from, and drops what the client claims"]
  ],
  ["request smuggling", [
    "gateway/framing.test.ts",
    "refuses what two parsers could read differently, and passes none of it on"
  ]],
  [
    "SSE hijack",
    [
      "mcp/oauth.test.ts",
      "of one client does not get into another's SSE session (SSE hijack), nor does one with other scopes"
    ],
    ["mcp/door.test.ts", "belong together by credential: another's session is 404, as one that never was"],
    [
      "ready-server/hosted.test.ts",
      "does not let anybody post into another's SSE session (SSE hijack), by its id and a good token of his own"
    ]
  ],
  ["confused deputy", [
    "oauth/authorize.test.ts",
    "confused deputy: a second client is asked for, whatever the first was granted"
  ]],
  [
    "byoa JWKS",
    [
      "gateway/authorization.test.ts",
      "in byoa mode gets any well-formed Bearer token as it came, and nothing of the customer's is fetched"
    ]
  ],
  [
    "DNS rebinding",
    ["mcp/oauth.test.ts", "refuses a foreign Origin with 403, whatever the token"],
    ["mcp/door.test.ts", "a page of elsewhere is refused, ours and the operator's are let in"]
  ],
  [
    "token in a query",
    ["gateway/authorization.test.ts", "does not take a token from the URL, alone or beside the header"],
    ["mcp/oauth.test.ts", "is not taken from the URL, alone or beside the header"]
  ],
  [
    "a machine reached past the gateway",
    ["ready-server/hosted.test.ts", "serves nobody who did not pass the gateway, a good token or not"],
    [
      "ready-server/hosted.test.ts",
      "keeps the replay token between itself and the platform: no answer and no log line holds it"
    ]
  ]
]

const root = join(import.meta.dirname, "..")
const sources = new Map<string, string>()
const source = (file: string) => {
  const known = sources.get(file) ?? readFileSync(join(root, file), "utf8")
  sources.set(file, known)
  return known
}

/** A title as it may stand in a file: the one of a test, a suite or a case of a table. */
const named = (file: string, title: string) =>
  ["\"", "`"].some((quote) => source(file).includes(quote + title + quote)) || source(file).includes(`, "${title}`)

describe("the checklist", () => {
  for (const [rule, ...tests] of [...lines, ...attacks]) {
    it(`${rule}: its tests are there`, () => {
      expect(tests.length).toBeGreaterThan(0)
      expect(tests.filter(([file, title]) => !named(file, title))).toEqual([])
    })
  }

  it("has eighteen lines, and each has a test that names it by its number", () => {
    expect(lines.map(([rule]) => Number.parseInt(rule))).toEqual(Array.from({ length: 18 }, (_, index) => index + 1))
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"))
    const titles = files.filter((file) => !file.endsWith("checklist.test.ts")).flatMap((file) =>
      source(file).match(/\((["`])[^"`\n]*\1/g) ?? []
    )
    for (const [index, [rule]] of lines.entries()) {
      const number = index + 1
      const tag = new RegExp(`\\[(row \\d+, )?(row )?${number}\\]|["\`]${number} \\[RS\\]`)
      expect(titles.some((title) => tag.test(title)), rule).toBe(true)
    }
  })
})
