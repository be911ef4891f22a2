import { CurrentSettings, type Settings } from "#src/config/Settings.ts"
import { resourceUrls } from "#src/servers/addresses.ts"
import { type Endpoint, hostName, locator } from "#src/servers/locate.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { settingsTest } from "../support/Settings.ts"

const settingsOf = (variables: Readonly<Record<string, string>>): Settings =>
  Effect.runSync(Effect.provide(CurrentSettings, settingsTest(variables)))
const settings = settingsOf({ BASE_URL: "https://berth.test", MCP_DOMAIN: "mcp.test" })
const locate = locator(settings)

const edge = fc.constantFrom(..."abcxyz0189")
const slugs = fc.tuple(edge, fc.string({ unit: fc.constantFrom(..."abz09-"), maxLength: 20 }), edge)
  .map((parts) => parts.join("")).filter(isLabel)
const rest = fc.webPath().map((path) => path === "" ? "/" : path)
const query = fc.webQueryParameters().map((text) => text === "" ? "" : `?${text}`)
const mixedCase = (text: string) => fc.mixedCase(fc.constant(text))

describe("the address of a hosted server", () => {
  it("is found by host, in any case, with any port, with the dot of a full name, and leaves path and query alone", () =>
    fc.assert(fc.property(
      slugs.chain((slug) => fc.tuple(fc.constant(slug), mixedCase(`${slug}.mcp.test`))),
      fc.constantFrom("", ":80", ":8787", ".", ".:443", ":"),
      rest,
      query,
      ([slug, host], tail, path, query) => {
        if (path.startsWith("/.well-known/")) return
        assert.deepStrictEqual(locate(host + tail, path + query), {
          form: "host",
          slug,
          endpoint: (/^\/(?:mcp|sse)\/?$/.test(path) ? path : "") as Endpoint,
          kind: "proxy",
          path: path + query
        })
      }
    )))

  it("is found by path on any other host, and its prefix is taken off", () =>
    fc.assert(fc.property(
      slugs,
      fc.constantFrom("berth.test", "127.0.0.1:8787", "[::1]", "", "mcp.test", "xmcp.test"),
      rest,
      query,
      (slug, host, path, query) => {
        assert.deepStrictEqual(locate(host, `/s/${slug}${path}${query}`), {
          form: "path",
          slug,
          endpoint: (/^\/(?:(?:mcp|sse)\/?)?$/.test(path) ? path : "") as Endpoint,
          kind: "proxy",
          path: path + query
        })
        assert.strictEqual(locate(host, `/s/${slug}${query}`)?.path, `/${query}`)
      }
    )))

  it("never crashes nor names what is no slug, whatever is sent", () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), slugs.map((slug) => `${slug}.mcp.test`), fc.string().map((text) => `${text}.mcp.test`)),
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `/s/${text}`),
          fc.string().map((text) => `/.well-known/${text}`)
        ),
        (host, url) => {
          const target = locate(host, url)
          if (target?.slug !== undefined) assert.isTrue(isLabel(target.slug))
          if (target?.form === "path") assert.isTrue(target.path.startsWith("/"))
        }
      ),
      { numRuns: 2000 }
    ))

  it.each([
    ["berth.test", "/v1/servers"],
    ["berth.test", "/s"],
    ["berth.test", "/S/a/"],
    ["berth.test", "//s/a/"],
    ["berth.test", "/x/s/a/"],
    ["mcp.test", "/"],
    ["xmcp.test", "/"],
    ["a.mcp.test.evil.test", "/"],
    ["berth.test", "/.well-known/oauth-protected-resource"],
    ["berth.test", "/.well-known/oauth-protected-resource/mcp"]
  ])("is not %s%s", (host, url) => assert.isUndefined(locate(host, url)))

  it.each([
    ["a.b.mcp.test", "/"],
    [".mcp.test", "/"],
    ["-a.mcp.test", "/"],
    ["a_b.mcp.test", "/"],
    ["xn--a.mcp.test", "/"],
    ["berth.test", "/s/"],
    ["berth.test", "/s/A/"],
    ["berth.test", "/s/%61/"],
    ["berth.test", "/s/a..b/"],
    ["berth.test", `/s/${"a".repeat(64)}`],
    ["berth.test", "/.well-known/oauth-protected-resource/s/a/other"],
    ["berth.test", "/.well-known/oauth-protected-resource/s/"]
  ])("can't be %s%s, which no server has", (host, url) => {
    const target = locate(host, url)
    assert.isDefined(target)
    assert.isUndefined(target?.slug)
  })

  const spellings = ["", "/", "/sse", "/sse/", "/mcp", "/mcp/"] as const
  it("has its document before and after each spelling of its endpoints, and names that spelling", () => {
    const url = "/.well-known/oauth-protected-resource"
    for (const suffix of spellings) {
      const metadata = { kind: "metadata", slug: "a", endpoint: suffix } as const
      const ofHost = { ...metadata, endpoint: suffix === "/" ? "" as const : suffix }
      const ofPath = { ...metadata, form: "path" } as const
      for (const query of ["", "?x=1"]) {
        assert.deepInclude(locate("a.mcp.test", `${url}${suffix}${query}`), ofHost)
        assert.deepInclude(locate("a.mcp.test", `${suffix}${url}${query}`), ofHost)
        assert.deepInclude(locate("berth.test", `${url}/s/a${suffix}${query}`), ofPath)
        assert.deepInclude(locate("berth.test", `/s/a${suffix}${url}${query}`), ofPath)
      }
    }
  })

  it("has no other OAuth document, wherever it is looked for: its machine is not asked", () => {
    for (const name of ["oauth-authorization-server", "openid-configuration"]) {
      for (const endpoint of spellings) {
        for (const path of [`/.well-known/${name}${endpoint}`, `${endpoint}/.well-known/${name}`]) {
          assert.deepInclude(locate("a.mcp.test", path), { kind: "metadata", slug: undefined })
          assert.deepInclude(locate("berth.test", `/s/a${path}`), { kind: "metadata", slug: undefined })
        }
      }
    }
    assert.deepInclude(locate("a.mcp.test", "/.well-known/oauth-protected-resource/x"), { slug: undefined })
    assert.deepInclude(locate("a.mcp.test", "/files/.well-known/openid-configuration"), { kind: "proxy", slug: "a" })
    assert.deepInclude(locate("a.mcp.test", "/.well-known/oauth-protected-resources"), { kind: "proxy" })
  })

  it("is not that of the platform, though its host lies below the same domain", () => {
    const locate = locator(settingsOf({ BASE_URL: "https://api.example.com", MCP_DOMAIN: "example.com" }))
    assert.isUndefined(locate("api.example.com", "/v1/servers"))
    assert.deepInclude(locate("API.example.com:443", "/s/a/x"), { form: "path", slug: "a" })
    assert.deepInclude(locate("a.example.com", "/"), { form: "host", slug: "a" })
  })

  it("leads back to the server that it was made for, in both forms and for any base", () =>
    fc.assert(
      fc.property(
        slugs,
        fc.constantFrom("http://localhost:8787", "https://berth.test", "https://berth.test/below/this"),
        fc.constantFrom("mcp.localhost", "mcp.test:8443", "mcp.test"),
        (slug, base, domain) => {
          const settings = settingsOf({ BASE_URL: base, MCP_DOMAIN: domain })
          for (const url of Object.values(resourceUrls(settings, slug))) {
            const { host, pathname } = new URL(url)
            assert.deepInclude(locator(settings)(host, pathname), { slug, kind: "proxy", path: "/" })
          }
        }
      ),
      { numRuns: 60 }
    ))

  it("compares names as DNS does", () => {
    assert.strictEqual(hostName("A.Mcp.Test.:80"), "a.mcp.test")
    assert.strictEqual(hostName("[::1]:80"), "[::1]")
  })
})
