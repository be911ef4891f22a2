import { Images } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as zlib from "node:zlib"
import { full, long } from "../support/needs.ts"
import { tarOf, type TestImageOptions } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { directory, file } from "./entries.ts"
import { type Bench, deployed, fakeRegistry, image, imagesTest, tree } from "./images-test.ts"

describe("an image is not unpacked", () => {
  const reasonOf = (options: TestImageOptions, bench: Bench = {}) =>
    Effect.gen(function*() {
      const home = temporaryDirectory("refused")
      const error = yield* Effect.flip(deployed(options, { ...bench, home }))
      expect(tree(home).filter((path) => path.startsWith("rootfs/"))).toEqual([])
      return error.reason
    })

  it.scopedLive("when a layer is not what the config says", () =>
    Effect.gen(function*() {
      expect(yield* reasonOf({ diffIds: [`sha256:${"0".repeat(64)}`] })).toBe("digest_mismatch")
    }))

  it.scopedLive("when a layer is cut short, padded with garbage, or no archive", () =>
    Effect.gen(function*() {
      const archive = yield* Effect.promise(() => tarOf([file("a", "x".repeat(2000))]))
      const broken = {
        "cut inside a file": zlib.gzipSync(archive.subarray(0, 1500)),
        "cut inside a header": zlib.gzipSync(archive.subarray(0, 300)),
        "gzip cut": zlib.gzipSync(archive).subarray(0, 40),
        "gzip of garbage": zlib.gzipSync(Buffer.alloc(1024, 0x41)),
        "garbage": Buffer.alloc(1024, 0x41),
        "deflate": zlib.deflateRawSync(archive),
        "a changed header": zlib.gzipSync(Buffer.concat([Buffer.from("b"), archive.subarray(1)]))
      }
      for (const [name, bytes] of Object.entries(broken)) {
        const compress = () => bytes
        expect(yield* reasonOf({ archives: [archive], compress }), name).toBe("invalid_image")
      }
      const nothing = () => Buffer.alloc(0)
      expect(yield* reasonOf({ archives: [archive], compress: nothing })).toBe("digest_mismatch")
    }))

  it.scopedLive("when it unpacks to too many bytes or files", () =>
    Effect.gen(function*() {
      const bomb = yield* Effect.promise(() => tarOf([{ name: "bomb", content: Buffer.alloc(20_000_000) }]))
      const compress = (archive: Buffer) => zlib.gzipSync(archive, { level: zlib.constants.Z_BEST_COMPRESSION })
      expect(yield* reasonOf({ archives: [bomb], compress }, { limits: { unpacked: 1_000_000 } })).toBe("too_large")
      const layers = [[file("a"), file("b")], [file("c"), directory("d")]]
      expect(yield* reasonOf({ layers }, { limits: { entries: 3 } })).toBe("too_large")
      expect((yield* deployed({ layers }, { limits: { entries: 4 } })).rootfs).toBeTruthy()
    }))

  it.scopedLive("when it holds sparse files or unknown kinds of entries", () =>
    Effect.gen(function*() {
      const sparse = { ...file("x"), pax: { "GNU.sparse.major": "1", "GNU.sparse.minor": "0" } }
      expect(yield* reasonOf({ layers: [[sparse]] })).toBe("unsupported")
      const archive = yield* Effect.promise(() => tarOf([file("x")]))
      archive.write("V", 156)
      archive.write("        ", 148)
      const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
      archive.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
      expect(yield* reasonOf({ archives: [archive] })).toBe("unsupported")
    }))

  it.scopedLive("with its times, where they are no dates", () =>
    Effect.gen(function*() {
      const archive = yield* Effect.promise(() => tarOf([file("x")]))
      archive.fill(0xff, 137, 148).writeUInt8(0x80, 136)
      archive.write("        ", 148)
      const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
      archive.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
      expect(statSync(join((yield* deployed({ archives: [archive] })).rootfs, "x")).mtimeMs).toBe(0)
    }))

  it.scopedLive.skipIf(!full)(
    long("when interrupted: the half is gone at once, and the next try makes the whole"),
    () =>
      Effect.gen(function*() {
        const home = temporaryDirectory("interrupted")
        const registry = yield* fakeRegistry()
        const entries = Array.from({ length: 3000 }, (_, at) => file(`d/f${at}`))
        const built = yield* image({ layers: [entries] })
        const uri = registry.add("me/app", built, "v1")
        yield* Effect.gen(function*() {
          const images = yield* Images
          yield* images.mirror(yield* images.resolve(uri))
          const fiber = yield* Effect.fork(images.unpack(built.digest))
          yield* Effect.promise(async () => {
            while (!existsSync(join(home, "rootfs"))) await sleep(5)
          })
          yield* Effect.sleep("50 millis")
          yield* Fiber.interrupt(fiber)
          expect(readdirSync(join(home, "rootfs"))).toEqual([])
          yield* Effect.sleep("50 millis")
          expect(readdirSync(join(home, "rootfs"))).toEqual([])
          const { rootfs } = yield* images.unpack(built.digest)
          expect(readdirSync(join(rootfs, "d"))).toHaveLength(3000)
        }).pipe(Effect.provide(imagesTest({ allow: [registry.host], home })))
      })
  )
})
