import { Images, ResolvedImage } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { testIndex, thisArch } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { blobsIn, deployImage, fakeRegistry, image, imagesTest } from "./images-test.ts"

const read = (rootfs: string, path: string) => readFileSync(join(rootfs, path), "utf8")
const otherArch = thisArch === "arm64" ? "amd64" : "arm64"

describe("an image in a registry", () => {
  it.scopedLive("is resolved to a digest, mirrored and unpacked", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image({ config: { Entrypoint: ["/bin/app"], User: "1000:1000", WorkingDir: "/srv" } })
      const uri = registry.add("me/app", made, "v1")
      const home = temporaryDirectory("images")
      const deployed = yield* Effect.provide(deployImage(uri), imagesTest({ allow: [registry.host], home }))
      expect(deployed.resolved.digest).toBe(made.digest)
      expect(deployed.rootfs).toBe(join(home, "rootfs", made.digest.slice(7)))
      expect(read(deployed.rootfs, "hello")).toBe("hello\n")
      expect(deployed.config).toEqual({
        entrypoint: ["/bin/app"],
        cmd: ["/hello"],
        env: ["PATH=/bin"],
        workingDir: "/srv",
        user: "1000:1000"
      })
      expect(blobsIn(home)).toEqual([made.digest, ...made.blobs.keys()].map((d) => d.slice(7)).sort())
      const index = JSON.parse(read(home, "images/index.json"))
      expect(index.manifests).toMatchObject([{ digest: made.digest, size: made.manifest.length }])
      expect(JSON.parse(read(home, "images/oci-layout"))).toEqual({ imageLayoutVersion: "1.0.0" })
    }))

  it.scopedLive("resolved stays what it is through JSON, whatever the tag points at later", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const first = yield* image()
      const uri = registry.add("me/app", first, "v1")
      yield* Effect.gen(function*() {
        const images = yield* Images
        const resolved = yield* images.resolve(uri)
        registry.add("me/app", yield* image({ config: { User: "other" } }), "v1")
        const stored = JSON.stringify(Schema.encodeSync(ResolvedImage)(resolved))
        yield* images.mirror(yield* Schema.decode(Schema.parseJson(ResolvedImage))(stored))
        expect(yield* images.has(first.digest)).toBe(true)
        expect((yield* images.unpack(first.digest)).config.user).toBe("")
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host] })))
    }))

  it.scopedLive.each([false, true])(
    "of an index is the build for this machine (docker types: %s)",
    (docker) =>
      Effect.gen(function*() {
        const registry = yield* fakeRegistry()
        const [mine, other, odd] = yield* Effect.all([
          image({ docker }),
          image({ docker, architecture: otherArch }),
          image({ docker, config: { User: "variant" } })
        ])
        for (const built of [mine, other, odd]) registry.add("me/app", built)
        const index = testIndex([
          { image: other, platform: { os: "linux", architecture: otherArch } },
          { image: odd, platform: { os: "windows", architecture: thisArch } },
          { image: odd, platform: { os: "linux", architecture: thisArch, variant: "v99" } },
          { image: mine, platform: { os: "linux", architecture: thisArch } },
          { image: odd, platform: { os: "unknown", architecture: "unknown" } }
        ], docker)
        for (const uri of [registry.add("me/app", index, "v1"), registry.add("me/app", index)]) {
          const deployed = yield* Effect.provide(deployImage(uri), imagesTest({ allow: [registry.host] }))
          expect(deployed.resolved.digest).toBe(mine.digest)
        }
      })
  )

  it.scopedLive("is pulled with the token its registry asks for, also when the token runs out", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry({ auth: "token", redirectBlobs: true })
      const uri = registry.add("me/app", yield* image(), "v1")
      yield* Effect.gen(function*() {
        const images = yield* Images
        const resolved = yield* images.resolve(uri)
        registry.expireTokens()
        yield* images.mirror(resolved)
        yield* images.unpack(resolved.digest)
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host, registry.objectsHost] })))
      const tokens = registry.seen.filter(({ path }) => path.startsWith("/token"))
      expect(tokens[0]?.path).toBe("/token?service=test+registry&scope=repository%3Ame%2Fapp%3Apull")
      const objects = registry.seen.filter(({ host }) => host === registry.objectsHost)
      expect(objects.length).toBeGreaterThan(0)
      for (const { authorization } of objects) expect(authorization).toBeUndefined()
    }))

  it.scopedLive("mirrored once is not pulled again, and unpacks without its registry", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image()
      const uri = registry.add("me/app", made, "v1")
      yield* Effect.gen(function*() {
        const images = yield* Images
        const resolved = yield* images.resolve(uri)
        expect(yield* images.has(made.digest)).toBe(false)
        yield* images.mirror(resolved)
        const before = registry.seen.length
        yield* images.mirror(resolved)
        expect(registry.seen.length).toBe(before)
        registry.manifests.clear()
        registry.blobs.clear()
        const [one, two] = yield* Effect.all([images.unpack(made.digest), images.unpack(made.digest)], {
          concurrency: 2
        })
        expect(one.rootfs).toBe(two.rootfs)
        expect(read(one.rootfs, "hello")).toBe("hello\n")
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host] })))
    }))

  it.scopedLive("tells how far its mirroring is", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const uri = registry.add("me/app", yield* image(), "v1")
      const seen: Array<readonly [number, number]> = []
      const resolved = yield* Effect.gen(function*() {
        const images = yield* Images
        const resolved = yield* images.resolve(uri)
        yield* images.mirror(resolved, undefined, ({ bytes, totalBytes }) =>
          Effect.sync(() =>
            seen.push([bytes, totalBytes])
          ))
        return resolved
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host] })))
      expect(seen.at(-1)).toEqual([resolved.totalSize, resolved.totalSize])
    }))
})
