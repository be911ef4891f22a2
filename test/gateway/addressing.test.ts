import { type Addressing, rewriteAddress, rewriteChallenge } from "#src/routing/addressing.ts"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"

const byPath: Addressing = {
  machineHost: "localhost:8080",
  clientHost: "api.test:8443",
  scheme: "https",
  prefix: "/s/a"
}
const byHost: Addressing = { machineHost: "localhost:8080", clientHost: "a.mcp.test", scheme: "https", prefix: "" }

describe("an address that a machine gives of itself", () => {
  it.each([
    ["http://localhost:8080/mcp/", "/s/a/mcp/", "/mcp/"],
    ["https://LocalHost:8080/x?y=/z#f", "/s/a/x?y=/z#f", "/x?y=/z#f"],
    ["http://localhost:8080", "/s/a/", "/"],
    ["http://localhost:8080?x=1", "/s/a/?x=1", "/?x=1"],
    ["http://localhost:8080/s/a/x", "/s/a/x", "/s/a/x"],
    ["http://localhost:8080//x", "/s/a//x", "/.//x"],
    ["/login", "/s/a/login", "/login"],
    ["/s/a/login", "/s/a/login", "/s/a/login"],
    ["/s/ab", "/s/a/s/ab", "/s/ab"]
  ])("is told to its clients as one of theirs: %s → %s by path, %s by host", (address, path, host) => {
    assert.strictEqual(rewriteAddress(byPath, address), path)
    assert.strictEqual(rewriteAddress(byHost, address), host)
  })

  it.each([
    "https://api.test:8443/docs",
    "http://localhost:8081/x",
    "http://localhost/x",
    "http://localhost:8080.evil.test/x",
    "http://x@localhost:8080/x",
    "//localhost:8080/x",
    "next?page=2",
    "mailto:a@b.test",
    ""
  ])("is left alone when it is relative or another host's: %s", (address) => {
    assert.strictEqual(rewriteAddress(byPath, address), address)
    assert.strictEqual(rewriteAddress(byHost, address), address)
  })

  it("never comes to name another host than the client's", () =>
    fc.assert(
      fc.property(fc.webPath(), fc.constantFrom(byPath, byHost), (path, addressing) => {
        const { host, pathname } = new URL(
          rewriteAddress(addressing, `http://localhost:8080${path}`),
          `https://${addressing.clientHost}/any`
        )
        assert.strictEqual(host, addressing.clientHost)
        assert.isTrue(pathname.startsWith(`${addressing.prefix}/`))
      })
    ))
})

describe("a challenge that names the machine's own metadata", () => {
  it("names it by the client's URL", () => {
    const challenge = (url: string) => `Bearer error="invalid_token", resource_metadata="${url}", scope="a b"`
    const metadata = "/.well-known/oauth-protected-resource"
    const own = challenge(`http://localhost:8080${metadata}/mcp`)
    assert.strictEqual(rewriteChallenge(byPath, own), challenge(`https://api.test:8443${metadata}/s/a/mcp`))
    assert.strictEqual(rewriteChallenge(byHost, own), challenge(`https://a.mcp.test${metadata}/mcp`))
    const page = challenge("http://LOCALHOST:8080/docs")
    assert.strictEqual(rewriteChallenge(byPath, page), challenge("https://api.test:8443/s/a/docs"))
  })

  it("is left alone otherwise", () => {
    for (const text of [`Bearer realm="http://localhost:80801/x"`, `Bearer realm="localhost:8080"`, "Bearer"]) {
      assert.strictEqual(rewriteChallenge(byPath, text), text)
    }
  })
})
