import { Images } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { testIndex, thisArch } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Bench, blobsIn, deployImage, fakeRegistry, image, imagesTest } from "./images-test.ts"

const resolve = (uri: string) => Effect.flatMap(Images, (images) => images.resolve(uri))
const failure = (uri: string, bench: Bench) => Effect.flip(Effect.provide(deployImage(uri), imagesTest(bench)))
const otherArch = thisArch === "arm64" ? "amd64" : "arm64"

describe("an image is refused", () => {
  it.scopedLive("when it does not exist", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image()
      registry.add("me/app", made, "v1")
      for (const missing of ["me/app:v2", "me/none:v1", `me/app@sha256:${"0".repeat(64)}`]) {
        const error = yield* failure(`${registry.host}/${missing}`, { allow: [registry.host] })
        expect(error.reason).toBe("not_found")
        expect(error.message).toContain(missing)
      }
    }))

  it.scopedLive("when the registry gives no token for it", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry({ auth: "deny" })
      const uri = registry.add("me/app", yield* image(), "v1")
      expect((yield* failure(uri, { allow: [registry.host] })).reason).toBe("unauthorized")
      const basic = yield* fakeRegistry({
        intercept: (request, response) =>
          request.url !== "/v2/" &&
          response.writeHead(401, { "www-authenticate": "Basic realm=\"x\"" }).end() !== undefined
      })
      expect((yield* failure(`${basic.host}/me/app`, { allow: [basic.host] })).reason).toBe("unauthorized")
    }))

  it.scopedLive("when it is built for another architecture, which is named", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const other = yield* image({ architecture: otherArch })
      const windows = yield* image({ os: "windows" })
      const lying = yield* image({ architecture: "riscv64" })
      const platform = { os: "linux", architecture: thisArch }
      registry.add("me/app", lying)
      const uris = [
        registry.add("me/app", other, "single"),
        registry.add("me/app", windows, "windows"),
        registry.add(
          "me/app",
          testIndex([{ image: other, platform: { os: "linux", architecture: otherArch } }]),
          "index"
        ),
        registry.add("me/app", testIndex([]), "none"),
        registry.add("me/app", testIndex([{ image: lying, platform }]), "lying")
      ]
      const errors = yield* Effect.forEach(uris, (uri) => failure(uri, { allow: [registry.host] }))
      expect(errors.map(({ reason }) => reason)).toEqual(uris.map(() => "wrong_architecture"))
      expect(errors[0]?.message).toContain(`linux/${thisArch}`)
      const named = [`linux/${otherArch}`, `windows/${thisArch}`, `linux/${otherArch}`, "it has none", "linux/riscv64"]
      errors.forEach(({ message }, at) => expect(message).toContain(named[at]))
    }))

  it.scopedLive("when a manifest has another digest than was asked for, and nothing is stored", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const [asked, served] = yield* Effect.all([image(), image({ config: { User: "evil" } })])
      const uri = registry.add("me/app", asked)
      registry.add("me/app", served)
      registry.manifests.set(`me/app:${asked.digest}`, { bytes: served.manifest, mediaType: served.mediaType })
      const home = temporaryDirectory("images")
      expect((yield* failure(uri, { allow: [registry.host], home })).reason).toBe("digest_mismatch")
      expect(blobsIn(home)).toEqual([])
    }))

  it.scopedLive.each(
    [
      ["other bytes of the same length", (bytes: Buffer) => Buffer.alloc(bytes.length, 1)],
      ["fewer bytes", (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
      ["no bytes", () => Buffer.alloc(0)],
      ["more bytes", (bytes: Buffer) => Buffer.concat([bytes, Buffer.from("x")])],
      ["many more bytes", (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1_000_000)])]
    ] as const
  )("when a blob has %s, and nothing is stored of it", ([, change]) =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image()
      const uri = registry.add("me/app", made, "v1")
      const [config = "", layer = ""] = [...made.blobs.keys()]
      const home = temporaryDirectory("images")
      yield* Effect.gen(function*() {
        const images = yield* Images
        const resolved = yield* images.resolve(uri)
        registry.blobs.set(layer, change(registry.blobs.get(layer) ?? Buffer.alloc(0)))
        const error = yield* Effect.flip(images.mirror(resolved))
        expect(["digest_mismatch", "too_large"]).toContain(error.reason)
        expect(error.message).toMatch(/sha256:|bytes/)
        expect(yield* images.has(made.digest)).toBe(false)
        expect(blobsIn(home).filter((name) => name !== config.slice(7))).toEqual([])
        registry.blobs.set(config, change(registry.blobs.get(config) ?? Buffer.alloc(0)))
        expect(["digest_mismatch", "too_large"]).toContain((yield* Effect.flip(images.resolve(uri))).reason)
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host], home })))
    }))

  it.scopedLive("when a blob's connection breaks off each time, after trying again", () =>
    Effect.gen(function*() {
      let tries = 0
      const made = yield* image()
      const [, layer = ""] = [...made.blobs.keys()]
      const registry = yield* fakeRegistry({
        intercept: (request, response) => {
          if (request.url?.endsWith(layer) !== true) return false
          tries++
          response.writeHead(200, { "content-length": made.blobs.get(layer)?.length }).write("x")
          setTimeout(() => response.destroy(), 10)
          return true
        }
      })
      const home = temporaryDirectory("images")
      const error = yield* failure(registry.add("me/app", made, "v1"), { allow: [registry.host], home })
      expect(error.reason).toBe("unreachable")
      expect(tries).toBe(3)
      expect(blobsIn(home)).toHaveLength(1)
    }))

  it.scopedLive("when it is larger than what is taken", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image({ layers: [[{ name: "a", content: "a" }], [{ name: "b", content: "b" }]] })
      const uri = registry.add("me/app", made, "v1")
      const huge = yield* image({
        change: (manifest) => ({
          ...manifest,
          layers: (manifest["layers"] as ReadonlyArray<object>).map((layer) => ({ ...layer, size: 2 ** 40 }))
        })
      })
      const long = yield* image({ change: (manifest) => ({ ...manifest, annotations: { a: "x".repeat(5_000_000) } }) })
      const allow = [registry.host]
      expect((yield* failure(uri, { allow, limits: { image: 300 } })).reason).toBe("too_large")
      expect((yield* failure(uri, { allow, limits: { layers: 1 } })).reason).toBe("too_large")
      expect((yield* failure(registry.add("me/app", huge, "huge"), { allow })).reason).toBe("too_large")
      expect((yield* failure(registry.add("me/app", long, "long"), { allow })).reason).toBe("too_large")
    }))

  it.scopedLive("when it is of a kind that is no container image", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const allow = [registry.host]
      const media = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"
      const withConfig = (mediaType: string) => (manifest: Record<string, unknown>) => ({
        ...manifest,
        config: { ...manifest["config"] as object, mediaType }
      })
      const foreign = yield* image({ layerType: media })
      const chart = yield* image({ change: withConfig("application/vnd.cncf.helm.config.v1+json") })
      const schema1 = yield* image({
        change: () => ({ schemaVersion: 1, mediaType: "application/vnd.docker.distribution.manifest.v1+json" })
      })
      const nested = testIndex([{
        image: testIndex([{ image: foreign }]),
        platform: { os: "linux", architecture: thisArch }
      }])
      registry.add("me/app", testIndex([{ image: foreign }]))
      for (const [tag, made] of Object.entries({ foreign, chart, schema1, nested })) {
        expect((yield* failure(registry.add("me/app", made, tag), { allow })).reason, tag).toBe("unsupported")
      }
    }))

  it.scopedLive("when its documents are malformed or ambiguous", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const allow = [registry.host]
      const made: Readonly<Record<string, Record<string, unknown>>> = {
        noLayers: { layers: undefined },
        negative: { layers: [{ mediaType: "x", digest: `sha256:${"0".repeat(64)}`, size: -1 }] },
        path: { layers: [{ mediaType: "x", digest: "sha256:../../../etc/passwd", size: 1 }] },
        sha512: { layers: [{ mediaType: "x", digest: `sha512:${"0".repeat(128)}`, size: 1 }] },
        both: { manifests: [] },
        version: { schemaVersion: 1 }
      }
      for (const [tag, change] of Object.entries(made)) {
        const uri = registry.add("me/app", yield* image({ change: (manifest) => ({ ...manifest, ...change }) }), tag)
        expect((yield* failure(uri, { allow })).reason, tag).toBe("invalid_image")
      }
      for (
        const [tag, text] of Object.entries({ html: "<html>", empty: "", deep: "[".repeat(1_000_000), nul: "null" })
      ) {
        const bytes = Buffer.from(text)
        registry.manifests.set(`me/app:${tag}`, { bytes, mediaType: "application/vnd.oci.image.manifest.v1+json" })
        expect((yield* failure(`${registry.host}/me/app:${tag}`, { allow })).reason, tag).toBe("invalid_image")
      }
      const missing = yield* image({ diffIds: [] })
      expect((yield* failure(registry.add("me/app", missing, "diff"), { allow })).reason).toBe("invalid_image")
    }))

  it.scopedLive("when its registry cannot be reached, answers nonsense or redirects in circles", () =>
    Effect.gen(function*() {
      expect((yield* failure("127.0.0.1:1/me/app", { allow: ["127.0.0.1:1"] })).reason).toBe("unreachable")
      for (const status of [429, 500, 503, 204, 307]) {
        const registry = yield* fakeRegistry({
          intercept: (request, response) =>
            response.writeHead(status, status === 307 ? { location: request.url } : {}).end() !== undefined
        })
        expect((yield* failure(`${registry.host}/me/app`, { allow: [registry.host] })).reason).toBe("unreachable")
      }
    }))

  it.scopedLive("when its registry, token realm or blob redirect is on a private address", () =>
    Effect.gen(function*() {
      const open = yield* fakeRegistry({ redirectBlobs: true })
      const uri = open.add("me/app", yield* image(), "v1")
      expect((yield* failure(uri, {})).reason).toBe("not_allowed")
      expect((yield* failure("169.254.169.254/latest/meta-data", {})).reason).toBe("not_allowed")
      expect((yield* failure("[::ffff:127.0.0.1]:5000/me/app", {})).reason).toBe("not_allowed")
      expect(open.seen).toEqual([])
      expect((yield* failure(uri, { allow: [open.host] })).reason).toBe("not_allowed")
      expect(open.seen.every(({ host }) => host === open.host)).toBe(true)
      for (const realm of [`http://${open.host}/token`, "https://169.254.169.254/", "file:///etc/passwd", "x"]) {
        const before = open.seen.length
        const lured = yield* fakeRegistry({
          intercept: (request, response) =>
            request.url !== "/v2/" &&
            response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}"` }).end() !== undefined
        })
        const error = yield* failure(`${lured.host}/me/app`, { allow: [lured.host] })
        expect(["not_allowed", "unauthorized"]).toContain(error.reason)
        expect(open.seen.length).toBe(before)
      }
    }))

  it.scopedLive("when its address is malformed", () =>
    Effect.gen(function*() {
      for (const uri of ["", "-v", "http://ghcr.io/me/app", "me/App"]) {
        const error = yield* Effect.flip(Effect.provide(resolve(uri), imagesTest()))
        expect(error.reason).toBe("invalid_reference")
      }
    }))
})
