import { formatReference, parseReference } from "#src/images/reference.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"

const digest = `sha256:${"a1".repeat(32)}`
const parsed = (text: string) => Either.getOrThrow(parseReference(text))
const refusal = (text: string) =>
  Either.match(parseReference(text), { onLeft: (e) => e.reason, onRight: () => "taken" })

describe("an image address", () => {
  it("of a bare name is the latest official image of Docker Hub", () => {
    expect(parsed("nginx")).toEqual({
      _tag: "Registry",
      registry: "registry-1.docker.io",
      repository: "library/nginx",
      tag: "latest"
    })
    expect(parsed("docker.io/nginx")).toEqual(parsed("nginx"))
    expect(parsed("index.docker.io/library/nginx:latest")).toEqual(parsed("nginx"))
    expect(parsed("me/app:1")).toMatchObject({ registry: "registry-1.docker.io", repository: "me/app", tag: "1" })
  })

  it("names its registry by a dot, a port or localhost", () => {
    expect(parsed("ghcr.io/me/app")).toMatchObject({ registry: "ghcr.io", repository: "me/app", tag: "latest" })
    expect(parsed("GHCR.io/me/app")).toMatchObject({ registry: "ghcr.io" })
    expect(parsed("registry:5000/app:v1")).toMatchObject({ registry: "registry:5000", repository: "app", tag: "v1" })
    expect(parsed("localhost/app")).toMatchObject({ registry: "localhost", repository: "app" })
    expect(parsed("[::1]:5000/app")).toMatchObject({ registry: "[::1]:5000", repository: "app" })
  })

  it("may carry a digest, with or without a tag, and then no tag is made up", () => {
    expect(parsed(`ghcr.io/me/app@${digest}`)).toEqual({
      _tag: "Registry",
      registry: "ghcr.io",
      repository: "me/app",
      digest
    })
    expect(parsed(`ghcr.io/me/app:v1@${digest}`)).toMatchObject({ tag: "v1", digest })
  })

  it("may be a layout on disk", () => {
    expect(parsed("oci:/srv/image")).toEqual({ _tag: "Layout", path: "/srv/image" })
    expect(parsed("oci:./image dir:v1")).toEqual({ _tag: "Layout", path: "./image dir", tag: "v1" })
    expect(parsed("oci:/srv/a:b/c")).toEqual({ _tag: "Layout", path: "/srv/a:b/c" })
  })

  it.each([
    "",
    " nginx",
    "nginx ",
    "my app",
    "nginx\n",
    "nginx\u0000",
    "nginx\u202f",
    "-v/nginx",
    "--help",
    "-nginx",
    "Nginx",
    "ghcr.io/Me/app",
    "ghcr.io/me/App",
    "ghcr.io//app",
    "ghcr.io/",
    "/app",
    "app/",
    "me/-app",
    "me/app-",
    "me/.app",
    "me/a..b",
    "me/a___b",
    "me/../app",
    "me/app:",
    "me/app:-v",
    "me/app:.v",
    `me/app:${"t".repeat(129)}`,
    "me/app:a:b",
    "me/app@",
    "me/app@sha256:abc",
    `me/app@sha256:${"A1".repeat(32)}`,
    `me/app@sha512:${"a1".repeat(64)}`,
    `me/app@${digest}@${digest}`,
    "http://ghcr.io/me/app",
    "https://ghcr.io/me/app",
    "user:secret@ghcr.io/me/app",
    "ghcr.io:0/app",
    "ghcr.io:99999/app",
    "ghcr.io:5000x/app",
    "-ghcr.io/app",
    "ghcr-.io/app",
    "gh_cr.io/app",
    "[::1/app",
    "[gg::1]:5000/app",
    "ünïcode/app",
    "me/app?x=1",
    "me/app#x",
    "me/app%2f",
    "me\\app",
    "oci:",
    "oci:-rf",
    "oci: /srv",
    "oci:/srv/\u0007"
  ])("%j is refused", (text) => {
    expect(refusal(text)).toBe("invalid_reference")
  })

  it("longer than 255 characters of name, or 1024 in all, is refused", () => {
    expect(refusal(`ghcr.io/${"a".repeat(247)}`)).toBe("taken")
    expect(refusal(`ghcr.io/${"a".repeat(248)}`)).toBe("invalid_reference")
    expect(refusal(`oci:/${"a/".repeat(600)}a`)).toBe("invalid_reference")
  })

  const part = fc.stringMatching(/^[a-z0-9]{1,8}(?:(?:\.|_|__|-{1,3})[a-z0-9]{1,8}){0,2}$/)
  const host = fc.stringMatching(/^[a-z0-9]{1,10}\.[a-z]{2,5}(?::[1-9][0-9]{0,3})?$/)
  const tag = fc.option(fc.stringMatching(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,30}$/), { nil: undefined })
  const hash = fc.option(fc.stringMatching(/^sha256:[a-f0-9]{64}$/), { nil: undefined })

  it("that the grammar allows is taken, and its full form means the same", () => {
    fc.assert(fc.property(host, fc.array(part, { minLength: 1, maxLength: 4 }), tag, hash, (registry, path, t, d) => {
      const text = `${registry}/${path.join("/")}${t === undefined ? "" : `:${t}`}${d === undefined ? "" : `@${d}`}`
      const reference = parsed(text)
      expect(reference).toMatchObject({ registry, repository: path.join("/") })
      expect(parsed(formatReference(reference))).toEqual(reference)
    }))
  })

  it("made of anything either is refused with a reason or has a full form that means the same", () => {
    const alphabet = fc.constantFrom(
      ..."abzAZ019.:/@-_[]%\\ \n\u0000",
      "oci:",
      "sha256:",
      "..",
      "docker.io/",
      "a".repeat(64)
    )
    const text = fc.oneof(fc.string(), fc.array(alphabet, { maxLength: 12 }).map((parts) => parts.join("")))
    fc.assert(
      fc.property(text, (text) => {
        const found = parseReference(text)
        if (Either.isLeft(found)) {
          expect(found.left.reason).toBe("invalid_reference")
        } else {
          expect(text).not.toMatch(/^-|[\u0000-\u001f]/)
          expect(parsed(formatReference(found.right))).toEqual(found.right)
        }
      }),
      { numRuns: 2000 }
    )
  })
})
