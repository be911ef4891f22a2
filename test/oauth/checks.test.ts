import { CurrentSettings } from "#src/config/Settings.ts"
import { redirectWith } from "#src/oauth/authorization-response.ts"
import { admission } from "#src/oauth/checks/access.ts"
import { duplicated } from "#src/oauth/checks/duplicates.ts"
import { resourceNamer } from "#src/oauth/checks/resource.ts"
import { graceMillis, rotationOf } from "#src/oauth/checks/rotation.ts"
import { narrowedScopes, requestedScopes } from "#src/oauth/checks/scope.ts"
import { newSalt, successorOf } from "#src/oauth/refresh-token.ts"
import { RevokedFamilies } from "#src/oauth/revoked-families.ts"
import { metadataPaths } from "#src/oauth/server-metadata.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { Effect, Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { settingsTest } from "../support/Settings.ts"

const offered = ["a:read", "a:write", "b"]
const anyScopes = fc.array(fc.constantFrom(...offered, "offline_access", "unknown"), { minLength: 1, maxLength: 6 })

describe("scopes of a request", () => {
  it("are those of the resource and offline_access, each once, or the request is refused", () => {
    fc.assert(fc.property(anyScopes, (names) => {
      const found = requestedScopes(names.join(" "), offered, ["b"])
      const known = offered.filter((name) => names.includes(name))
      if (known.length === 0) return Either.isLeft(found)
      const scopes = Either.getOrThrow(found)
      expect(new Set(scopes).size).toBe(scopes.length)
      expect(scopes.filter((name) => name !== "offline_access")).toEqual(known)
      return scopes.includes("offline_access") === names.includes("offline_access")
    }))
  })

  it("of a refresh are never more than was granted", () => {
    fc.assert(fc.property(anyScopes, anyScopes, (granted, names) => {
      const found = narrowedScopes(names.join(" "), granted)
      return Either.isRight(found) === names.every((name) => granted.includes(name)) &&
        (Either.isLeft(found) || found.right.every((name) => granted.includes(name)))
    }))
  })
})

describe("a resource", () => {
  it("in either form names its server by the canonical one, and never another", async () => {
    const settings = await Effect.runPromise(
      Effect.provide(CurrentSettings, settingsTest({ BASE_URL: "https://berth.example", MCP_DOMAIN: "mcp.example" }))
    )
    const name = resourceNamer(settings)
    const slugs = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/).filter(isLabel)
    fc.assert(
      fc.property(
        slugs,
        fc.constantFrom("host", "path"),
        fc.constantFrom("", "/", "/mcp", "/sse", "/mcp/"),
        (slug, form, end) => {
          const resource = form === "host" ? `https://${slug}.mcp.example` : `https://berth.example/s/${slug}`
          const expected = { kind: "server", slug, resource: `https://${slug}.mcp.example` }
          expect(name(resource + end)).toEqual(expected)
          expect(name((resource + end).replace("https://berth.example", "HTTPS://Berth.Example:443"))).toEqual(expected)
        }
      )
    )
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => name(url) === undefined)
    )
    fc.assert(fc.property(fc.string(), (text) => name(text) === undefined))
  })
})

describe("the answer in a redirect", () => {
  it("comes back whole, whatever state holds, and leaves the rest of the query as it was", () => {
    const redirects = fc.constantFrom(
      "https://c.example/cb",
      "https://c.example/cb?x=1&state=2&y=%20",
      "app.example:/cb",
      "http://localhost:1/?iss=x"
    )
    fc.assert(fc.property(redirects, fc.string({ unit: "grapheme" }), (redirect, state) => {
      const url = new URL(redirectWith(redirect, "https://i.example", state, { code: "c" }))
      expect(["code", "state", "iss"].map((name) => url.searchParams.getAll(name))).toEqual([["c"], [state], [
        "https://i.example"
      ]])
      expect(url.href.split("?")[0]).toBe(new URL(redirect).href.split("?")[0])
      return new URL(redirect).searchParams.get("x") === url.searchParams.get("x")
    }))
  })
})

describe("a refresh token", () => {
  it("rotates once, repeats within the grace, and is stolen after it or once its successor was used", () => {
    const now = 1_000_000_000
    const expiresAt = new Date(now + 1)
    const unused = { rotatedAt: null, successorUsed: false }
    expect(rotationOf({ ...unused, expiresAt }, now)).toBe("rotate")
    expect(rotationOf({ ...unused, expiresAt: new Date(now) }, now)).toBe("expired")
    fc.assert(fc.property(fc.integer({ min: 0, max: 3 * graceMillis }), fc.boolean(), (age, successorUsed) => {
      const turn = rotationOf({ expiresAt, rotatedAt: new Date(now - age), successorUsed }, now)
      return turn === (age <= graceMillis && !successorUsed ? "repeat" : "replay")
    }))
    expect(graceMillis).toBeLessThanOrEqual(60_000)
  })

  it("has one successor for a salt, and another for another", () => {
    const salt = newSalt()
    expect(successorOf("t", salt)).toBe(successorOf("t", salt))
    expect(successorOf("t", salt)).not.toBe(successorOf("u", salt))
    expect(successorOf("t", salt)).not.toBe(successorOf("t", newSalt()))
  })
})

it("a parameter is there twice even when it is empty; resource may be", () => {
  expect(duplicated(new URLSearchParams("a=1&b=2&a=1"))).toBe("a")
  expect(duplicated(new URLSearchParams("a=&a="))).toBe("a")
  expect(duplicated(new URLSearchParams("resource=1&resource=2"))).toBeUndefined()
})

it("a server is for everybody, its owner, or those listed beside the owner whose address is verified", () => {
  const of = (access: "public" | "owner" | "list", emailVerified: boolean) =>
    ["o", "l", "s"].map((accountId) =>
      admission({ access, ownerId: "o", allowedEmails: ["l@x"] }, { accountId, email: `${accountId}@x`, emailVerified })
    )
  for (const verified of [true, false]) {
    expect(of("public", verified)).toEqual(["admitted", "admitted", "admitted"])
    expect(of("owner", verified)).toEqual(["admitted", "refused", "refused"])
  }
  expect(of("list", true)).toEqual(["admitted", "admitted", "refused"])
  // Who is listed is not to be found out by signing up.
  expect(of("list", false)).toEqual(["admitted", "unverified", "unverified"])
})

it("revoked families are known for an access token's life, and then forgotten", () => {
  const families = new RevokedFamilies(100)
  families.add("a", 0)
  families.add("b", 50)
  expect([families.has("a"), families.has("b"), families.has(undefined)]).toEqual([true, true, false])
  families.add("c", 120)
  expect([families.has("a"), families.has("b"), families.size]).toEqual([false, true, 2])
})

it("[1] metadata is at the root, and for an issuer with a path inserted and appended", () => {
  expect(metadataPaths("https://a.example")).toEqual({
    server: ["/.well-known/oauth-authorization-server"],
    openid: ["/.well-known/openid-configuration"]
  })
  expect(metadataPaths("https://a.example/t").openid).toEqual([
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/t",
    "/t/.well-known/openid-configuration"
  ])
})
