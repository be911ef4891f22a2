import { checkDocument } from "#src/oauth/checks/client-document.ts"
import { clientIdUrlProblem, isClientIdUrl } from "#src/oauth/checks/client-id-url.ts"
import { checkRegistration } from "#src/oauth/checks/registration.ts"
import { freshnessOf, longestLifetime } from "#src/oauth/client-metadata-lifetime.ts"
import { consentHash } from "#src/oauth/Client.ts"
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const id = "https://client.example/metadata.json"

describe("a client id that is a URL [row 17]", () => {
  it.each([
    id,
    "https://client.example/a",
    "https://client.example:8443/a/b?version=1",
    "https://xn--80ahbyhddgf2au.example/a"
  ])("%s may be one", (url) => expect(clientIdUrlProblem(url, [])).toBeUndefined())

  it.each([
    "http://client.example/metadata.json",
    "http://127.0.0.1:4000/metadata.json",
    "https://client.example",
    "https://client.example/",
    "https://client.example/?a=b",
    "https://user@client.example/a",
    "https://user:secret@client.example/a",
    "https://client.example/a#b",
    "https://client.example/a#",
    "https://client.example/./a",
    "https://client.example/a/../b",
    "https://client.example/a/..",
    "https://client.example/%2e/a",
    "https://client.example/a/%2E%2e/b",
    "https://client.example/a/.%2e",
    "https://client.example/a\\..\\b",
    "https://CLIENT.example/a",
    "HTTPS://client.example/a",
    "https://client.example:443/a",
    "https:/client.example/a",
    "https:client.example/a",
    "https://client.example/a b",
    "https://client.example/é",
    "https://client.example/a\n",
    " https://client.example/a",
    "https://",
    `https://client.example/${"a".repeat(2048)}`
  ])("%s can't be one", (url) => expect(clientIdUrlProblem(url, [])).toMatch(/^must /))

  it("has dots and encoded letters that are no dot segments", () => {
    for (const path of ["/.well-known/client", "/a.json", "/..a", "/a%2eb", "/...", "/a?x=/../b"]) {
      expect(clientIdUrlProblem(`https://client.example${path}`, []), path).toBe(undefined)
    }
  })

  it("is plain http only on this machine, and only where the operator excepts it", () => {
    const url = "http://127.0.0.1:4000/metadata.json"
    expect(clientIdUrlProblem(url, ["127.0.0.1:4000"])).toBeUndefined()
    expect(clientIdUrlProblem(url, ["127.0.0.1:4001"])).toBe("must be an https URL")
    expect(clientIdUrlProblem("http://intranet.example/a", ["intranet.example"])).toBe("must be an https URL")
  })

  it("is told from the ids that we make by how it begins", () => {
    expect([isClientIdUrl(id), isClientIdUrl("HTTP://x"), isClientIdUrl("client_01J")]).toEqual([true, true, false])
  })
})

const document = { client_id: id, client_name: "Menu Reader", redirect_uris: ["https://client.example/cb"] }
const checked = (fields: Readonly<Record<string, unknown>> = {}) =>
  Either.merge(Either.map(checkDocument(id, JSON.stringify({ ...document, ...fields })), () => "valid"))

describe("a client's metadata document [row 17]", () => {
  it("needs client_id, client_name and redirect_uris, and nothing else", () => {
    expect(checked()).toBe("valid")
    for (const name of Object.keys(document)) expect(checked({ [name]: undefined })).toMatch(new RegExp(`^${name}: `))
  })

  it.each([
    "https://client.example/metadata.json/",
    "https://client.example/Metadata.json",
    "https://client.example:443/metadata.json",
    "https://client.example/metadata.json?",
    "https://other.example/metadata.json"
  ])("has the URL it came from as client_id to the letter, so not %s", (other) => {
    expect(checked({ client_id: other })).toMatch(/^client_id: /)
  })

  it("has no secret, and no way to prove itself but none", () => {
    expect(checked({ token_endpoint_auth_method: "none" })).toBe("valid")
    for (const method of ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "", 7]) {
      expect(checked({ token_endpoint_auth_method: method })).toMatch(/^token_endpoint_auth_method: /)
    }
    expect(checked({ client_secret: "s3cret" })).toMatch(/^client_secret: /)
    expect(checked({ client_secret: null })).toMatch(/^client_secret: /)
    expect(checked({ client_secret_expires_at: 0 })).toMatch(/^client_secret_expires_at: /)
  })

  it.each([
    ["no redirect", []],
    ["a redirect that is no text", [7]],
    ["a script as redirect", ["https://client.example/cb", "javascript:alert(1)"]],
    ["plain http elsewhere", ["http://client.example/cb"]],
    ["too many redirects", Array.from({ length: 33 }, (_, n) => `https://client.example/${n}`)],
    ["a text instead of a list", "https://client.example/cb"]
  ])("is refused for %s", (_why, redirects) => {
    expect(checked({ redirect_uris: redirects })).toMatch(/^redirect_uris/)
  })

  it("asks for the code flow, if it says what it asks for", () => {
    expect(checked({ grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] })).toBe("valid")
    expect(checked({ grant_types: ["client_credentials"] })).toMatch(/^grant_types: /)
    expect(checked({ response_types: ["token"] })).toMatch(/^response_types: /)
    expect(checked({ scope: "mcp:read mcp:write" })).toBe("valid")
    for (const scope of ["a\"b", "a\\b", "a\tb", " a"]) expect(checked({ scope })).toMatch(/^scope: /)
  })

  it.each([
    ["nothing", ""],
    ["a blank", "  "],
    ["a line break", "Menu\nReader"],
    ["writing from right to left", "Menu \u202eredaeR"],
    ["hidden characters", "Menu\u200b Reader"],
    ["tag characters", "Menu\u{e0041}"],
    ["256 characters", "x".repeat(256)],
    ["no text", 7]
  ])("has a name to show, not %s", (_why, name) => expect(checked({ client_name: name })).toMatch(/^client_name: /))

  it("may say more than is read, logo_uri too", () => {
    expect(checked({ logo_uri: "https://client.example/logo.png", software_id: "x", contacts: [1] })).toBe("valid")
  })

  it.each(["", "null", "[]", "7", "\"text\"", "{", "{}", "<html>"])("that is %s is none", (text) => {
    expect(Either.isLeft(checkDocument(id, text))).toBe(true)
  })

  it("never makes the check throw, whatever JSON it is", () => {
    fc.assert(fc.property(fc.json(), (text) => {
      expect(Either.isLeft(checkDocument(id, text))).toBe(true)
    }))
  })
})

describe("a registration request [row 11]", () => {
  const registered = (fields: Readonly<Record<string, unknown>>) =>
    checkRegistration({ redirect_uris: ["https://client.example/cb"], ...fields })
  const code = (fields: Readonly<Record<string, unknown>>) =>
    Either.match(registered(fields), { onLeft: ({ error }) => error, onRight: () => "registered" })

  it("needs redirects and nothing else", () => {
    expect(registered({})).toEqual(Either.right({
      clientName: "Unnamed client",
      redirectUris: ["https://client.example/cb"],
      scope: null,
      grantTypes: ["authorization_code"]
    }))
  })

  it("tells a bad redirect from other bad metadata", () => {
    for (
      const bad of [undefined, [], null, "x", [1], ["javascript:alert(1)"], ["data:text/html,x"], ["http://a.example"]]
    ) {
      expect(code({ redirect_uris: bad }), JSON.stringify(bad)).toBe("invalid_redirect_uri")
    }
    for (
      const bad of [
        { client_name: "a\nb" },
        { client_name: 7 },
        { grant_types: ["implicit"] },
        { grant_types: "authorization_code" },
        { response_types: ["token"] },
        { token_endpoint_auth_method: "private_key_jwt" },
        { token_endpoint_auth_method: "tls_client_auth" },
        { scope: "a\"b" },
        { jwks: { keys: [] }, jwks_uri: "https://client.example/jwks" }
      ]
    ) expect(code(bad), JSON.stringify(bad)).toBe("invalid_client_metadata")
  })

  it("may ask for a secret, as leaving the method out does, and is given none", () => {
    for (const method of ["none", "client_secret_basic", "client_secret_post", null]) {
      expect(code({ token_endpoint_auth_method: method })).toBe("registered")
    }
  })

  it("keeps the grants and scopes that we have, and each redirect and scope once", () => {
    expect(registered({
      redirect_uris: ["https://a.example/", "https://a.example/"],
      grant_types: ["refresh_token", "authorization_code", "password"],
      scope: "mcp:write  mcp:tools mcp:read mcp:write"
    })).toEqual(Either.right({
      clientName: "Unnamed client",
      redirectUris: ["https://a.example/"],
      grantTypes: ["authorization_code", "refresh_token"],
      scope: "mcp:write mcp:read"
    }))
  })

  it("is told what was wrong in the characters of RFC 6749 §5.2, whatever was sent", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
      for (const input of [value, { redirect_uris: [text], client_name: value }, { redirect_uris: value }]) {
        const result = checkRegistration(input)
        if (Either.isLeft(result)) expect(result.left.description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
      }
    }))
  })
})

describe("how long a document is fresh [row 18]", () => {
  const now = Date.parse("2026-01-01T00:00:00Z")
  const seconds = (headers: Parameters<typeof freshnessOf>[0]) => {
    const { lifetime, stored } = freshnessOf(headers, now)
    return [lifetime === undefined ? undefined : lifetime / 1000, stored]
  }
  it.each(
    [
      [{}, undefined, true],
      [{ "cache-control": "max-age=60" }, 60, true],
      [{ "cache-control": "public, Max-Age=60" }, 60, true],
      [{ "cache-control": "max-age=\"60\"" }, 60, true],
      [{ "cache-control": "max-age=60, s-maxage=30" }, 30, true],
      [{ "cache-control": "max-age=60, max-age=90" }, 60, true],
      [{ "cache-control": "max-age=60", "age": "50" }, 10, true],
      [{ "cache-control": "max-age=60", "age": "70" }, 0, true],
      [{ "cache-control": "max-age=60", "expires": "Thu, 01 Jan 2026 10:00:00 GMT" }, 60, true],
      [{ "cache-control": "max-age=31536000, immutable" }, 86_400, true],
      [{ "cache-control": "max-age=99999999999999999999999" }, 86_400, true],
      [{ "cache-control": "max-age=-1" }, 0, true],
      [{ "cache-control": "max-age=soon" }, 0, true],
      [{ "cache-control": "no-cache, max-age=60" }, 0, true],
      [{ "cache-control": "private, max-age=60" }, 0, true],
      [{ "cache-control": "max-age=60, no-store" }, 0, false],
      [{ "expires": "Thu, 01 Jan 2026 00:01:00 GMT" }, 60, true],
      [{ "expires": "Thu, 01 Jan 2026 00:01:00 GMT", "date": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30, true],
      [{ "expires": "0" }, 0, true],
      [{ "expires": "Wed, 01 Jan 2025 00:00:00 GMT" }, 0, true]
    ] as const
  )("%j: %s seconds, its validator kept: %s", (headers, lifetime, stored) => {
    expect(seconds(headers)).toEqual([lifetime, stored])
  })

  it("is between nothing and a day, whatever the host says", () => {
    fc.assert(fc.property(fc.string(), fc.string(), fc.string(), (cacheControl, age, expires) => {
      const { lifetime = 0 } = freshnessOf({ "cache-control": cacheControl, age, expires }, now)
      expect(lifetime >= 0 && lifetime <= longestLifetime).toBe(true)
    }))
  })
})

describe("what a consent was given to [row 18]", () => {
  const client = (...redirectUris: ReadonlyArray<string>) => ({ clientId: id, redirectUris })
  it("is the same in any order of the redirects, and another with another redirect or client", () => {
    const hash = consentHash(client("https://a.example/", "https://b.example/"))
    expect(hash).toHaveLength(32)
    expect(consentHash(client("https://b.example/", "https://a.example/"))).toEqual(hash)
    expect(consentHash(client("https://a.example/"))).not.toEqual(hash)
    expect(consentHash(client("https://a.example/", "https://b.example/", "https://c.example/"))).not.toEqual(hash)
    expect(consentHash({ ...client("https://a.example/", "https://b.example/"), clientId: "client_x" }))
      .not.toEqual(hash)
  })
})
