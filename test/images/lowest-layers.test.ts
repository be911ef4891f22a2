import { Images } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type RawEntry } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { directory, file, hardlink, symlink } from "./entries.ts"
import { type Bench, deployImage, fakeRegistry, image, imagesTest, tree } from "./images-test.ts"

const lowest: ReadonlyArray<RawEntry> = [
  { ...directory("bin"), mode: 0o750 },
  { ...file("bin/node", "node"), mode: 0o755 },
  hardlink("bin/nodejs", "bin/node"),
  symlink("lib", "usr/none"),
  file("usr/lib/a", "a"),
  file("usr/lib/b", "b"),
  { ...directory("tmp"), mode: 0o1777 }
].map((entry) => ({ ...entry, mtime: new Date(0) }))

/** Deploys images of these upper layers, one after the other, in one home. */
const deployedOn = (uppers: ReadonlyArray<ReadonlyArray<RawEntry>>, bench: Bench & { readonly home: string }) =>
  Effect.gen(function*() {
    const registry = yield* fakeRegistry()
    return yield* Effect.forEach(uppers, (upper, at) =>
      Effect.gen(function*() {
        const made = yield* image({ layers: [lowest, upper] })
        const { bytes, rootfs } = yield* deployImage(registry.add("me/app", made, `v${at}`))
        return { bytes, digest: made.digest, rootfs, layer: [...made.blobs.keys()][1]! }
      })).pipe(Effect.provide(imagesTest({ allow: [registry.host], ...bench })))
  })

const inode = (path: string) => lstatSync(path).ino
const mode = (path: string) => lstatSync(path).mode & 0o7777

describe("the lowest layer of several images", () => {
  it.scopedLive("is unpacked once, and none sees what the others make of it", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("lowest")
      const [one, two, three] = yield* deployedOn([
        [file("app", "1")],
        [file("app", "2"), file("usr/lib/.wh.a", ""), file("bin/node", "mine"), { ...directory("bin"), mode: 0o700 }],
        [file("usr/lib/.wh..wh..opq", ""), file("usr/lib/c"), { ...directory("lib") }, file("lib/own")]
      ], { home })
      const of = (image: typeof one, path: string) => join(image!.rootfs, path)
      const common = ["bin", "bin/node", "bin/nodejs", "tmp", "usr", "usr/lib"]
      expect(tree(one!.rootfs)).toEqual(["app", ...common, "lib", "usr/lib/a", "usr/lib/b"].sort())
      expect(tree(two!.rootfs)).toEqual(["app", ...common, "lib", "usr/lib/b"].sort())
      expect(tree(three!.rootfs)).toEqual([...common, "lib", "lib/own", "usr/lib/c"].sort())
      expect(readFileSync(of(one, "bin/node"), "utf8")).toBe("node")
      expect(readFileSync(of(two, "bin/node"), "utf8")).toBe("mine")
      expect(readFileSync(of(two, "bin/nodejs"), "utf8")).toBe("node")
      expect([one, two, three].map((each) => mode(of(each, "bin")))).toEqual([0o750, 0o700, 0o750])
      expect([one, two, three].map((each) => mode(of(each, "tmp")))).toEqual([0o1777, 0o1777, 0o1777])
      expect(mode(of(three, "bin/node"))).toBe(0o755)
      expect(readlinkSync(of(one, "lib"))).toBe("usr/none")
      expect(new Set([one, two, three].map((each) => inode(of(each, "bin/nodejs")))).size).toBe(1)
      expect(inode(of(three, "bin/node"))).toBe(inode(of(three, "bin/nodejs")))
      expect(inode(of(one, "usr/lib/b"))).toBe(inode(of(two, "usr/lib/b")))
      expect(readdirSync(join(home, "layers"))).toEqual([one!.layer.slice("sha256:".length)])
      expect(readdirSync(join(home, "rootfs"))).toHaveLength(3)
      // Each counts with all that it has.
      expect(two!.bytes).toBeGreaterThan(lowest.length * 512)
    }))

  it.scopedLive("counts in the limits of each, and is not kept of an image that is refused", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("lowest")
      const refused = yield* Effect.flip(deployedOn([[file("out/../../x")]], { home }))
      expect(refused.reason).toBe("hostile_layer")
      expect(readdirSync(home).sort()).toEqual(["images", "rootfs"])
      const few = { limits: { entries: lowest.length + 1 }, home }
      yield* deployedOn([[file("x")]], few)
      const twoMore = yield* Effect.flip(deployedOn([[file("x"), file("y")]], few))
      expect(twoMore.message).toContain(`more than ${lowest.length + 1} files`)
      const unpacked = 512 * 2 * lowest.length + 1024 + 2048
      const small = { limits: { unpacked }, home }
      expect((yield* Effect.flip(deployedOn([[file("x", "x".repeat(4_000))]], small))).reason).toBe("too_large")
      expect(readdirSync(join(home, "rootfs"))).toHaveLength(1)
    }))

  it.scopedLive("is not taken for what another image says that it unpacks to", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("lowest")
      yield* deployedOn([[file("app")]], { home })
      const registry = yield* fakeRegistry()
      const made = yield* image({
        layers: [lowest, [file("app")]],
        diffIds: ["0", "1"].map((n) => `sha256:${n.repeat(64)}`)
      })
      const uri = registry.add("me/liar", made, "v1")
      const error = yield* Effect.flip(Effect.provide(deployImage(uri), imagesTest({ allow: [registry.host], home })))
      expect(error.reason).toBe("digest_mismatch")
    }))

  it.scopedLive("is kept as long as an image has it, and what a crash left goes", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("lowest")
      const [one, two] = yield* deployedOn([[file("app", "1")], [file("app", "2")]], { home })
      const left = join(home, "rootfs", ".tmp-4194304-00ff")
      mkdirSync(join(left, "lowest", "tree"), { recursive: true })
      writeFileSync(join(left, "lowest", "layer.json"), "{")
      yield* Effect.gen(function*() {
        const images = yield* Images
        yield* images.collect(Effect.succeed(new Set([two!.digest])))
        expect([existsSync(one!.rootfs), existsSync(left)]).toEqual([false, false])
        expect(readFileSync(join(two!.rootfs, "bin/node"), "utf8")).toBe("node")
        expect(readdirSync(join(home, "layers"))).toHaveLength(1)
        yield* images.collect(Effect.succeed(new Set<string>()))
        expect(["layers", "rootfs"].map((name) => readdirSync(join(home, name)))).toEqual([[], []])
      }).pipe(Effect.provide(imagesTest({ home })))
    }))
})
