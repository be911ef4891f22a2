import { Images } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { full, long } from "../support/needs.ts"
import type { TestImage } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { blobsIn, fakeRegistry, image, imagesTest } from "./images-test.ts"

/** The same layer each time: of another second it would be another. */
const big = (seed: number) => ({
  name: `big${seed}`,
  content: Buffer.alloc(200_000, `noise ${seed}`),
  mtime: new Date(0)
})
const blobPath = (home: string, digest: string) => join(home, "images", "blobs", "sha256", digest.slice(7))
const names = (...images: ReadonlyArray<TestImage>) =>
  [...new Set(images.flatMap((made) => [made.digest, ...made.blobs.keys()]))].map((digest) => digest.slice(7)).sort()

const mirror = (uri: string) =>
  Effect.gen(function*() {
    const images = yield* Images
    const resolved = yield* images.resolve(uri)
    yield* images.mirror(resolved)
    return resolved.digest
  })

/** A server that sends half of every layer and then waits until it is told to go on. */
const slowRegistry = Effect.gen(function*() {
  const made = yield* image({ layers: [[big(1)]] })
  const layer = [...made.blobs.keys()][1] ?? ""
  const bytes = made.blobs.get(layer) ?? Buffer.alloc(0)
  const gate = { open: false, asked: 0, release: () => {} }
  const opened = new Promise<void>((resolve) => gate.release = resolve)
  const registry = yield* fakeRegistry({
    intercept: (request, response) => {
      if (gate.open || request.url?.endsWith(layer) !== true) return false
      gate.asked++
      response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, bytes.length / 2))
      void opened.then(() => response.end(bytes.subarray(bytes.length / 2)))
      return true
    }
  })
  const until = (condition: () => boolean) =>
    Effect.promise(async () => {
      while (!condition()) await sleep(10)
    })
  return { made, layer, gate, registry, until, uri: registry.add("me/app", made, "v1") }
})

describe("the image store", () => {
  it.scopedLive("pulls a blob once for many who want it at the same time", () =>
    Effect.gen(function*() {
      const slow = yield* slowRegistry
      const shared = yield* image({ layers: [[big(1)]], config: { User: "second" } })
      const second = slow.registry.add("me/other", shared, "v1")
      const home = temporaryDirectory("store")
      yield* Effect.gen(function*() {
        const fiber = yield* Effect.fork(
          Effect.all([mirror(slow.uri), mirror(slow.uri), mirror(second)], { concurrency: "unbounded" })
        )
        yield* slow.until(() => slow.gate.asked > 0)
        yield* Effect.sleep("50 millis")
        slow.gate.release()
        yield* Fiber.join(fiber)
        expect(slow.gate.asked).toBe(1)
        expect(blobsIn(home)).toEqual(names(slow.made, shared))
        const { manifests } = JSON.parse(readFileSync(join(home, "images", "index.json"), "utf8"))
        expect(manifests).toHaveLength(2)
      }).pipe(Effect.provide(imagesTest({ allow: [slow.registry.host], home })))
    }))

  it.scopedLive("stays whole when two services write the same image into it", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image({ layers: [[big(1)], [big(2)], [big(3)]] })
      const uri = registry.add("me/app", made, "v1")
      const home = temporaryDirectory("store")
      const one = Effect.provide(mirror(uri), imagesTest({ allow: [registry.host], home }))
      yield* Effect.all([one, one, one], { concurrency: "unbounded" })
      expect(blobsIn(home)).toEqual(names(made))
    }))

  it.scopedLive("leaves nothing of an interrupted pull", () =>
    Effect.gen(function*() {
      const slow = yield* slowRegistry
      const home = temporaryDirectory("store")
      yield* Effect.gen(function*() {
        const fiber = yield* Effect.fork(mirror(slow.uri))
        yield* slow.until(() => slow.gate.asked > 0)
        yield* Effect.sleep("50 millis")
        yield* Fiber.interrupt(fiber)
        expect(blobsIn(home).filter((name) => name.startsWith(".") || name === slow.layer.slice(7))).toEqual([])
        slow.gate.open = true
        expect(yield* mirror(slow.uri)).toBe(slow.made.digest)
      }).pipe(Effect.provide(imagesTest({ allow: [slow.registry.host], home })))
    }))

  it.scopedLive.skipIf(!full)(
    long("never counts what a killed process had half pulled, and clears it away"),
    () =>
      Effect.gen(function*() {
        const slow = yield* slowRegistry
        const home = temporaryDirectory("store")
        const child = spawn(process.execPath, ["--import", "tsx", "test/images/pull.program.ts", slow.uri, home])
        yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
        yield* slow.until(() => slow.gate.asked > 0 || child.exitCode !== null)
        expect(child.exitCode).toBeNull()
        // Config and layer travel at the same time: only the held-back layer may be incomplete.
        yield* slow.until(() => {
          const [incomplete = "", ...stored] = blobsIn(home)
          return incomplete.startsWith(".tmp-") && stored.length > 0 && !stored.some((name) => name.startsWith("."))
        })
        yield* Effect.gen(function*() {
          const images = yield* Images
          yield* images.collect(Effect.succeed(new Set([slow.made.digest])))
          expect(blobsIn(home).filter((name) => name.startsWith("."))).toHaveLength(1)
          child.kill("SIGKILL")
          yield* Effect.promise(() => once(child, "exit"))
          expect(yield* images.has(slow.made.digest)).toBe(false)
          expect(blobsIn(home)).not.toContain(slow.layer.slice(7))
          yield* images.collect(Effect.succeed(new Set([slow.made.digest])))
          expect(blobsIn(home).filter((name) => name.startsWith("."))).toEqual([])
          slow.gate.open = true
          yield* mirror(slow.uri)
          expect(yield* images.has(slow.made.digest)).toBe(true)
        }).pipe(Effect.provide(imagesTest({ allow: [slow.registry.host], home })))
      }),
    30_000
  )

  it.scopedLive("notices blobs that were damaged on disk, drops them, and is mended by mirroring again", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image({ layers: [[big(1)]] })
      const uri = registry.add("me/app", made, "v1")
      const home = temporaryDirectory("store")
      const [config = "", layer = ""] = [...made.blobs.keys()]
      yield* Effect.gen(function*() {
        const images = yield* Images
        yield* mirror(uri)
        truncateSync(blobPath(home, layer), 50)
        expect(yield* images.has(made.digest)).toBe(false)
        expect((yield* Effect.flip(images.unpack(made.digest))).reason).toBe("invalid_image")
        yield* mirror(uri)
        for (const damaged of [layer, config, made.digest]) {
          const size = readFileSync(blobPath(home, damaged)).length
          writeFileSync(blobPath(home, damaged), Buffer.alloc(size, 1))
          expect(["invalid_image", "digest_mismatch"]).toContain(
            (yield* Effect.flip(images.unpack(made.digest))).reason
          )
          expect(yield* images.has(made.digest)).toBe(false)
          yield* mirror(uri)
        }
        yield* images.unpack(made.digest)
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host], home })))
    }))

  it.effect("knows nothing of images that were never mirrored, or of digests that are none", () =>
    Effect.gen(function*() {
      const images = yield* Images
      const unknown = `sha256:${"0".repeat(64)}`
      expect(yield* images.has(unknown)).toBe(false)
      expect(yield* images.has("../../etc/passwd")).toBe(false)
      expect((yield* Effect.flip(images.unpack(unknown))).reason).toBe("not_found")
      expect((yield* Effect.flip(images.unpack("sha256:../../etc"))).reason).toBe("invalid_reference")
    }).pipe(Effect.provide(imagesTest())))
})

describe("collecting", () => {
  it.scopedLive("removes images that are not kept, with what only they use", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const [kept, gone] = yield* Effect.all([
        image({ layers: [[big(1)], [big(2)]] }),
        image({ layers: [[big(1)], [big(3)]] })
      ])
      const home = temporaryDirectory("store")
      yield* Effect.gen(function*() {
        const images = yield* Images
        for (const made of [kept, gone]) {
          yield* mirror(registry.add("me/app", made))
          yield* images.unpack(made.digest)
        }
        const collected = yield* images.collect(Effect.succeed(new Set([kept.digest, `sha256:${"0".repeat(64)}`])))
        expect(collected).toMatchObject({ blobs: 3, rootfs: 1 })
        expect(collected.bytes).toBeGreaterThan(0)
        expect(blobsIn(home)).toEqual(names(kept))
        expect(readdirSync(join(home, "rootfs"))).toEqual([kept.digest.slice(7)])
        const { manifests } = JSON.parse(readFileSync(join(home, "images", "index.json"), "utf8"))
        expect(manifests).toMatchObject([{ digest: kept.digest }])
        yield* images.unpack(kept.digest)
        expect((yield* Effect.flip(images.unpack(gone.digest))).reason).toBe("not_found")
        expect(yield* images.collect(Effect.succeed(new Set()))).toMatchObject({ blobs: 4, rootfs: 1 })
        expect(yield* images.collect(Effect.succeed(new Set()))).toEqual({ blobs: 0, bytes: 0, rootfs: 0 })
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host], home })))
    }))

  it.scopedLive("leaves alone what a mirroring or an unpacking is at work on", () =>
    Effect.gen(function*() {
      const slow = yield* slowRegistry
      const entries = Array.from({ length: 1500 }, (_, at) => ({ name: `d/f${at}`, content: "x" }))
      const many = yield* image({ layers: [entries, [big(7)]] })
      const home = temporaryDirectory("store")
      yield* Effect.gen(function*() {
        const images = yield* Images
        yield* mirror(slow.registry.add("me/many", many))
        const unpacking = yield* Effect.fork(images.unpack(many.digest))
        const mirroring = yield* Effect.fork(mirror(slow.uri))
        yield* slow.until(() => slow.gate.asked > 0)
        for (let round = 0; round < 5; round++) yield* images.collect(Effect.succeed(new Set()))
        const { rootfs } = yield* Fiber.join(unpacking)
        expect(readdirSync(join(rootfs, "d"))).toHaveLength(1500)
        yield* images.collect(Effect.succeed(new Set([many.digest])))
        slow.gate.release()
        yield* Fiber.join(mirroring)
        expect(yield* images.has(slow.made.digest)).toBe(true)
        expect(yield* images.has(many.digest)).toBe(true)
      }).pipe(Effect.provide(imagesTest({ allow: [slow.registry.host], home })))
    }))

  it.scopedLive("leaves alone what somebody asked for since it was found out what to keep", () =>
    Effect.gen(function*() {
      const registry = yield* fakeRegistry()
      const made = yield* image({ layers: [[big(1)]] })
      const home = temporaryDirectory("store")
      yield* Effect.gen(function*() {
        const images = yield* Images
        const uri = registry.add("me/app", made)
        yield* mirror(uri)
        yield* images.unpack(made.digest)
        // A deployment and a rollback that begin in between.
        const uses = [
          Effect.asVoid(images.resolve(uri)),
          Effect.asVoid(images.has(made.digest)),
          Effect.asVoid(images.unpack(made.digest))
        ]
        for (const use of uses) {
          const kept = yield* images.collect(Effect.as(use, new Set<string>()))
          expect(kept).toEqual({ blobs: 0, bytes: 0, rootfs: 0 })
          expect([blobsIn(home), readdirSync(join(home, "rootfs"))]).toEqual([names(made), [made.digest.slice(7)]])
        }
        expect(yield* images.collect(Effect.succeed(new Set<string>()))).toMatchObject({ blobs: 3, rootfs: 1 })
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host], home })))
    }))

  it.scopedLive("clears away root file systems that a dead process left half unpacked", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("store")
      const dead = join(home, "rootfs", ".tmp-4194304-00ff")
      mkdirSync(join(dead, "dir"), { recursive: true })
      yield* Effect.gen(function*() {
        yield* (yield* Images).collect(Effect.succeed(new Set()))
        expect(existsSync(dead)).toBe(false)
      }).pipe(Effect.provide(imagesTest({ home })))
    }))
})
