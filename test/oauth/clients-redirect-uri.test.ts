import { matchesRedirect, redirectKind, redirectProblem } from "#src/oauth/checks/redirect-uri.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const good = [
  ["https://client.example/callback", "web"],
  ["https://client.example:8443/callback?tenant=a%20b", "web"],
  ["https://127.0.0.1/callback", "loopback"],
  ["https://127.0.0.2/callback", "loopback"],
  ["https://app.localhost/callback", "loopback"],
  ["https://localhost./callback", "loopback"],
  ["https://[::ffff:127.0.0.1]/callback", "loopback"],
  ["https://notlocalhost/callback", "web"],
  ["http://localhost/callback", "loopback"],
  ["http://localhost:33418", "loopback"],
  ["http://127.0.0.1:0/", "loopback"],
  ["http://[::1]:1/cb", "loopback"],
  ["com.example.app:/oauth2redirect", "private-use"],
  ["com.example.app://callback", "private-use"],
  ["cursor://anysphere.cursor-mcp/oauth/callback", "private-use"],
  ["vscode://vscode.github-authentication/did-authenticate", "private-use"],
  ["vscode-insiders://dynamicauthprovider/callback", "private-use"]
] as const

describe("a redirect URI [row 3, row 11]", () => {
  it.each(good)("%s may be registered, and is %s", (uri, kind) => {
    expect([redirectProblem(uri), redirectKind(uri)]).toEqual([undefined, kind])
  })

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "javascript://client.example/%0aalert(1)",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "blob:https://client.example/1",
    "filesystem:https://client.example/temporary/x",
    "about:blank",
    "view-source:https://client.example/",
    "intent://client.example/#Intent;scheme=https;end",
    "ms-msdt:/id",
    "search-ms:query=x",
    "mailto:a@client.example",
    "ws://client.example/",
    "http://client.example/callback",
    "http://10.0.0.1/callback",
    "http://localhost.evil.example/callback",
    "http://127.0.0.1.evil.example/",
    "http://127.0.0.2/",
    "http://localhost@evil.example/",
    "https://user@client.example/",
    "https://user:secret@client.example/",
    "https://client.example/callback#fragment",
    "https://client.example/callback#",
    "https://*.client.example/callback",
    "https://client.example\\@evil.example/",
    "https:/client.example/callback",
    "https:client.example",
    "https:///callback",
    "https://client.example/a b",
    "https://client.example/\u202ecb",
    "https://клиент.example/cb",
    "//client.example/callback",
    "/callback",
    "callback",
    "",
    `https://client.example/${"a".repeat(2048)}`
  ])("%s is refused", (uri) => {
    expect(redirectProblem(uri)).toMatch(/^must /)
  })

  it("never throws, whatever the text", () => {
    fc.assert(fc.property(fc.oneof(fc.webUrl(), fc.string({ unit: "binary" })), (uri) => {
      const problem = redirectProblem(uri)
      if (problem === undefined) redirectKind(uri)
    }))
  })
})

const port = fc.integer({ min: 1, max: 65_535 })
const path = fc.constantFrom("", "/", "/callback", "/callback?x=1", "/a/b")
const loopbackHost = fc.constantFrom("localhost", "127.0.0.1", "[::1]")
const atPort = (host: string, number: number | undefined, rest: string) =>
  `http://${host}${number === undefined ? "" : `:${number}`}${rest}`

describe("the redirect of an authorization request [row 4]", () => {
  it("matches the port it finds free, whatever port or none was registered for loopback", () => {
    fc.assert(
      fc.property(loopbackHost, fc.option(port, { nil: undefined }), port, path, (host, registered, asked, rest) => {
        expect(matchesRedirect([atPort(host, registered, rest)], atPort(host, asked, rest))).toBe(true)
      })
    )
  })

  it("matches in nothing but the port: another host, path or query is another redirect", () => {
    fc.assert(fc.property(loopbackHost, path, loopbackHost, path, port, (host, rest, otherHost, otherRest, number) => {
      const same = host === otherHost && rest === otherRest
      expect(matchesRedirect([atPort(host, undefined, rest)], atPort(otherHost, number, otherRest))).toBe(same)
    }))
  })

  it.each([
    ["https://client.example/cb", "https://client.example:8443/cb"],
    ["https://client.example/cb", "https://client.example/cb/"],
    ["https://client.example/cb", "https://client.example/CB"],
    ["https://client.example/cb", "https://CLIENT.example/cb"],
    ["https://client.example/cb", "https://client.example/cb?x=1"],
    ["https://client.example/cb", "https://client.example/c%62"],
    ["https://client.example/cb", "https://client.example/x/../cb"],
    ["https://client.example/cb", "https://client.example/cb#"],
    ["https://client.example/cb", "https://client.example.evil.example/cb"],
    ["https://client.example/cb", "http://client.example/cb"],
    ["https://localhost/cb", "https://localhost:4000/cb"],
    ["https://127.0.0.1/cb", "https://127.0.0.1:4000/cb"],
    ["http://localhost/cb", "http://localhost:99999/cb"],
    ["http://localhost/cb", "http://localhost:0/cb"],
    ["http://localhost/cb", "http://localhost:/cb"],
    ["http://localhost/cb", "http://localhost:80@evil.example/cb"],
    ["http://localhost/cb", "http://localhost:80\\@evil.example/cb"],
    ["http://localhost/cb", "http://localhost.evil.example:80/cb"],
    ["http://localhost/cb", "http://LOCALHOST:80/cb"],
    ["http://localhost/cb", "https://localhost:80/cb"],
    ["http://localhost/cb", "http://127.0.0.1:80/cb"],
    ["http://localhost/cb", "http://localhost:80/cb\n"],
    ["http://localhost/cb", "http://localhost:80/cb#x"],
    ["com.example.app:/cb", "com.example.app:/cb2"],
    ["cursor://host/cb", "cursor://host:80/cb"]
  ])("registered as %s does not match %s", (registered, asked) => {
    expect(matchesRedirect([registered], asked)).toBe(false)
  })

  it("matches any one of several, each to the letter", () => {
    const registered = ["https://a.example/cb", "com.example.app:/cb", "http://localhost/callback"]
    for (const uri of registered) expect(matchesRedirect(registered, uri)).toBe(true)
    expect(matchesRedirect([], "https://a.example/cb")).toBe(false)
  })
})
