import { Images } from "#src/images/Images.ts"
import { registryHost } from "#src/images/reference.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { fakeRegistry, image, imagesTest } from "./images-test.ts"

const login = { username: "reader", password: Redacted.make("pass-w0rd") }
const basic = `Basic ${Buffer.from("reader:pass-w0rd").toString("base64")}`

const resolve = (uri: string, allow: ReadonlyArray<string>, production = false) =>
  Effect.flatMap(Images, (images) => images.resolve(uri, login)).pipe(
    Effect.provide(imagesTest({ allow, production }))
  )

describe("a login for a registry", () => {
  it.scopedLive("goes to the realm that the registry names, also on another host", () =>
    Effect.gen(function*() {
      const realm = yield* fakeRegistry({ auth: "token", login: () => "reader:pass-w0rd" })
      const registry = yield* fakeRegistry({
        intercept: ({ headers }, response) => {
          if (headers.authorization?.startsWith("Bearer ") === true) return false
          response.writeHead(401, { "www-authenticate": `Bearer realm="http://${realm.host}/token",service="s"` }).end()
          return true
        }
      })
      yield* resolve(registry.add("me/app", yield* image(), "v1"), [registry.host, realm.host])
      expect(realm.seen.map(({ authorization }) => authorization)).toEqual([basic])
      expect(registry.seen.map(({ authorization }) => authorization)).not.toContain(basic)
    }))

  it.scopedLive("goes to no host that the realm redirects to", () =>
    Effect.gen(function*() {
      const other = yield* fakeRegistry({ auth: "token" })
      const registry = yield* fakeRegistry({
        auth: "token",
        intercept: ({ url = "" }, response) => {
          if (!url.startsWith("/token")) return false
          response.writeHead(307, { location: `http://${other.host}${url}` }).end()
          return true
        }
      })
      const uri = registry.add("me/app", yield* image(), "v1")
      yield* Effect.ignore(resolve(uri, [registry.host, other.host]))
      expect(other.seen.map(({ authorization }) => authorization)).toEqual([undefined])
      expect(registry.seen.map(({ authorization }) => authorization)).toContain(basic)
    }))

  it.scopedLive.each(["Basic realm=\"x\"", "Bearer realm=\"http://HOST/token\""])(
    "goes to no host that the registry redirects to, whatever that asks for: %s",
    (challenge) =>
      Effect.gen(function*() {
        const other = yield* fakeRegistry({
          intercept: ({ headers, url = "" }, response) => {
            if (url.startsWith("/token")) response.end("{\"token\":\"t\"}")
            else response.writeHead(401, { "www-authenticate": challenge.replace("HOST", headers.host ?? "") }).end()
            return true
          }
        })
        const registry = yield* fakeRegistry({
          intercept: ({ url = "" }, response) => {
            if (!url.includes("/manifests/")) return false
            response.writeHead(307, { location: `http://${other.host}${url}` }).end()
            return true
          }
        })
        const uri = registry.add("me/app", yield* image(), "v1")
        const error = yield* Effect.flip(resolve(uri, [registry.host, other.host]))
        expect(error.reason).toBe("unauthorized")
        expect(other.seen.length).toBeGreaterThan(0)
        for (const { authorization } of [...other.seen, ...registry.seen]) expect(authorization).not.toBe(basic)
      })
  )

  it.scopedLive.each(["token", "basic"] as const)(
    "is not sent over plain http in production (%s)",
    (auth) =>
      Effect.gen(function*() {
        const registry = yield* fakeRegistry({ auth, login: () => "reader:pass-w0rd" })
        const uri = registry.add("me/app", yield* image(), "v1")
        const error = yield* Effect.flip(resolve(uri, [registry.host], true))
        expect(error).toMatchObject({ reason: "unauthorized", message: expect.stringContaining("needs https") })
        for (const { authorization } of registry.seen) expect(authorization).toBeUndefined()
      })
  )

  it.scopedLive("is not sent to a registry that does not ask for it", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      yield* resolve(registry.add("me/app", yield* image(), "v1"), [registry.host])
      for (const { authorization } of registry.seen) expect(authorization).toBeUndefined()
    }))

  it("is found by the host that an image's address resolves to", () => {
    expect(["docker.io", "Index.Docker.io", "localhost", "[::1]:5000", "GHCR.io:443"].map(registryHost)).toEqual([
      "registry-1.docker.io",
      "registry-1.docker.io",
      "localhost",
      "[::1]:5000",
      "ghcr.io:443"
    ])
    for (const text of ["", "ghcr", "a.io/b", "https://a.io", "a.io:", "a.io:65536", "a..io", "a.io\n"]) {
      expect(registryHost(text), text).toBeUndefined()
    }
  })
})
