import { Images } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { constants, deflateRawSync, gzipSync } from "node:zlib"
import { type RawEntry, startFakeRegistry, tarOf, testImage, type TestImageOptions } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Bench, deployImage, imagesTest } from "./images-test.ts"

const deployed = (options: TestImageOptions, bench: Bench = {}) =>
  Effect.gen(function*() {
    const registry = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeRegistry()),
      (registry) => Effect.promise(registry.close)
    )
    const uri = registry.add("me/app", yield* Effect.promise(() => testImage(options)), "v1")
    return yield* Effect.provide(deployImage(uri), imagesTest({ allow: [registry.host], ...bench }))
  })

const unpacked = (...layers: ReadonlyArray<ReadonlyArray<RawEntry>>) =>
  Effect.map(deployed({ layers }), ({ rootfs }) => rootfs)

const tree = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()

const mode = (path: string) => lstatSync(path).mode & 0o7777
const file = (name: string, content = name): RawEntry => ({ name, content })
const directory = (name: string): RawEntry => ({ name, type: "directory", mode: 0o755 })
const symlink = (name: string, linkname: string): RawEntry => ({ name, type: "symlink", linkname })
const hardlink = (name: string, linkname: string): RawEntry => ({ name, type: "link", linkname })

describe("unpacking", () => {
  it.scopedLive("keeps content, permission bits, times, links and empty directories", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked([
        { ...directory("bin"), mode: 0o755 },
        { name: "bin/app", content: "#!/bin/sh\n", mode: 0o755, mtime: new Date(1_700_000_000_000) },
        { name: "etc/shadow", content: "x", mode: 0o400 },
        { name: "nothing", content: "", mode: 0o600 },
        { ...directory("tmp"), mode: 0o1777 },
        symlink("bin/sh", "app"),
        symlink("etc/mtab", "/proc/mounts"),
        hardlink("bin/app2", "bin/app"),
        { name: "./dotted//path/./x", content: "dots" },
        file(`deep/${"long-name-".repeat(12)}/${"longer-".repeat(20)}`, "pax")
      ])
      expect(mode(join(rootfs, "bin/app"))).toBe(0o755)
      expect(mode(join(rootfs, "etc/shadow"))).toBe(0o400)
      expect(mode(join(rootfs, "nothing"))).toBe(0o600)
      expect(mode(join(rootfs, "tmp"))).toBe(0o1777)
      expect(mode(join(rootfs, "etc"))).toBe(0o755)
      expect(mode(rootfs)).toBe(0o755)
      expect(statSync(join(rootfs, "bin/app")).mtimeMs).toBe(1_700_000_000_000)
      expect(readlinkSync(join(rootfs, "bin/sh"))).toBe("app")
      expect(readlinkSync(join(rootfs, "etc/mtab"))).toBe("/proc/mounts")
      expect(statSync(join(rootfs, "bin/app2")).ino).toBe(statSync(join(rootfs, "bin/app")).ino)
      expect(readFileSync(join(rootfs, "dotted/path/x"), "utf8")).toBe("dots")
      expect(readFileSync(join(rootfs, `deep/${"long-name-".repeat(12)}/${"longer-".repeat(20)}`), "utf8")).toBe("pax")
      expect(tree(rootfs)).toContain("nothing")
    }))

  it.scopedLive("lets upper layers replace files, links and directories of lower ones", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked(
        [file("a", "1"), file("dir/x", "1"), symlink("link", "/etc"), file("kept/x", "1"), hardlink("b", "a")],
        [file("a", "2"), file("dir", "now a file"), { ...directory("link") }, file("link/y", "2"), directory("kept/")]
      )
      expect(tree(rootfs)).toEqual(["a", "b", "dir", "kept", "kept/x", "link", "link/y"])
      expect(readFileSync(join(rootfs, "a"), "utf8")).toBe("2")
      expect(readFileSync(join(rootfs, "b"), "utf8")).toBe("1")
    }))

  it.scopedLive("removes what whiteouts name in lower layers, and nothing of their own layer", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked(
        [file("gone"), file("dir/gone"), file("dir/sub/gone"), file("dir/kept"), file("both", "old"), file("tree/old")],
        [
          file("both", "new"),
          file(".wh.both", ""),
          file(".wh.gone", ""),
          file("dir/.wh.gone", ""),
          file("dir/.wh.sub", ""),
          file("dir/.wh.never-there", ""),
          file("nowhere/.wh.x", ""),
          file("tree/new"),
          file(".wh.tree", ""),
          file(".wh..wh.plnk", "")
        ]
      )
      expect(tree(rootfs)).toEqual(["both", "dir", "dir/kept", "tree", "tree/new"])
      expect(readFileSync(join(rootfs, "both"), "utf8")).toBe("new")
    }))

  it.scopedLive.each(["first", "last"])(
    "hides a whole lower directory by an opaque whiteout that comes %s",
    (place) =>
      Effect.gen(function*() {
        const opaque = file("dir/.wh..wh..opq", "")
        const own = [file("dir/new"), file("dir/sub/new")]
        const rootfs = yield* unpacked(
          [file("dir/old"), file("dir/sub/old"), file("dir/sub2/old"), symlink("dir/out", "/etc"), file("other")],
          place === "first" ? [opaque, ...own] : [...own, opaque]
        )
        expect(tree(rootfs)).toEqual(["dir", "dir/new", "dir/sub", "dir/sub/new", "other"])
      })
  )

  it.scopedLive("strips setuid and setgid, leaves out devices and fifos", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked([
        { name: "su", content: "x", mode: 0o6755 },
        { ...directory("group"), mode: 0o2775 },
        { name: "dev/sda", type: "block-device", devmajor: 8, devminor: 0 },
        { name: "dev/null", type: "character-device", devmajor: 1, devminor: 3 },
        { name: "dev/fifo", type: "fifo" }
      ])
      expect(mode(join(rootfs, "su"))).toBe(0o755)
      expect(mode(join(rootfs, "group"))).toBe(0o775)
      expect(tree(rootfs)).toEqual(["group", "su"])
    }))

  it.scopedLive("keeps a directory usable by its owner whatever its mode says", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked([{ ...directory("locked"), mode: 0o055 }, file("locked/x")], [file("locked/y")])
      expect(mode(join(rootfs, "locked"))).toBe(0o755)
      expect(tree(rootfs)).toEqual(["locked", "locked/x", "locked/y"])
    }))

  it.scopedLive("reads plain archives too", () =>
    Effect.gen(function*() {
      const { rootfs } = yield* deployed({
        layerType: "application/vnd.oci.image.layer.v1.tar",
        compress: (archive) => archive
      })
      expect(tree(rootfs)).toEqual(["hello"])
    }))

  it.scopedLive("leaves the event loop responsive", () =>
    Effect.gen(function*() {
      let longest = 0
      let last = performance.now()
      const timer = setInterval(() => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }, 5)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))
      const entries = Array.from({ length: 1000 }, (_, at) => file(`d${at % 10}/f${at}`, "x".repeat(5000)))
      const archive = yield* Effect.promise(() =>
        tarOf([...entries, { name: "big", content: Buffer.alloc(60_000_000) }])
      )
      const built = yield* Effect.promise(() => testImage({ archives: [archive] }))
      const registry = yield* Effect.promise(() => startFakeRegistry())
      const uri = registry.add("me/app", built, "v1")
      yield* Effect.gen(function*() {
        const images = yield* Images
        yield* images.mirror(yield* images.resolve(uri))
        last = performance.now()
        longest = 0
        yield* images.unpack(built.digest)
        expect(longest).toBeLessThan(250)
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host] })))
      yield* Effect.promise(registry.close)
    }))
})

describe("a hostile layer is refused and leaves nothing behind:", () => {
  const outside = temporaryDirectory("outside")
  writeFileSync(join(outside, "victim"), "untouched")
  mkdirSync(join(outside, "dir"))

  const attacks: Readonly<Record<string, ReadonlyArray<ReadonlyArray<RawEntry>>>> = {
    "a path that climbs": [[file("../evil")]],
    "a path that climbs in the middle": [[file("a/../../evil")]],
    "a path that climbs and comes back": [[file("a/../b")]],
    "a directory that climbs": [[directory("../evil")]],
    "an absolute path": [[file(`${outside}/evil`)]],
    "a symbolic link, then a file through it": [[symlink("out", outside), file("out/evil")]],
    "a symbolic link, then a file deep through it": [[symlink("out", outside), file("out/dir/evil")]],
    "a symbolic link of a lower layer, then a file through it": [[symlink("out", outside)], [file("out/evil")]],
    "a relative symbolic link upwards, then a file through it": [[symlink("up", "../../.."), file("up/evil")]],
    "a symbolic link inside, then a file through it": [[directory("in"), symlink("to", "in"), file("to/x")]],
    "a chain of symbolic links": [[symlink("one", "two"), symlink("two", outside), file("one/evil")]],
    "a directory through a symbolic link": [[symlink("out", outside), directory("out/dir/evil")]],
    "a symbolic link through a symbolic link": [[symlink("out", outside), symlink("out/evil", "x")]],
    "a whiteout through a symbolic link": [[symlink("out", outside)], [file("out/.wh.victim", "")]],
    "an opaque whiteout through a symbolic link": [[symlink("out", outside)], [file("out/.wh..wh..opq", "")]],
    "a whiteout of ..": [[file(".wh...", "")]],
    "a whiteout of .": [[file(".wh..", "")]],
    "a whiteout of nothing": [[file(".wh.", "")]],
    "a path through a whiteout": [[file(".wh.a/b")]],
    "a whiteout that climbs": [[file("../.wh.victim", "")]],
    "a hard link to an absolute path": [[hardlink("h", `${outside}/victim`)]],
    "a hard link that climbs": [[hardlink("h", "../../oci-layout")]],
    "a hard link through a symbolic link": [[symlink("out", outside), hardlink("h", "out/victim")]],
    "a hard link at a path through a symbolic link": [[file("a"), symlink("out", outside), hardlink("out/evil", "a")]],
    "a hard link to nothing": [[hardlink("h", "missing")]],
    "a hard link to a directory": [[directory("d"), hardlink("h", "d")]],
    "a hard link that replaces its target": [[file("d/x"), hardlink("d", "d/x")]],
    "a root that is a link": [[symlink(".", outside)]],
    "a root that is a file": [[file("./")], [{ name: ".", content: "x" }]],
    "a file below a file": [[file("a"), file("a/b")]],
    "a name that is too long": [[file(`${"n".repeat(256)}`)]],
    "a path that is too deep": [[file(`${"d/".repeat(300)}x`)]],
    "a link without a target": [[symlink("l", "")]],
    "a link to a target that is too long": [[symlink("l", "t".repeat(5000))]],
    "very many attributes": [[{
      ...file("x"),
      pax: Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`a.${n}`, "x"]))
    }]]
  }

  it.scopedLive.each(Object.entries(attacks))("%s", ([, layers]) =>
    Effect.gen(function*() {
      const home = temporaryDirectory("hostile")
      const error = yield* Effect.flip(deployed({ layers }, { home }))
      expect(error.reason).toBe("hostile_layer")
      expect(error.message).toMatch(/^A layer is refused: /)
      expect(readdirSync(join(home, "rootfs"))).toEqual([])
      expect(readFileSync(join(outside, "victim"), "utf8")).toBe("untouched")
      expect(tree(outside)).toEqual(["dir", "victim"])
      expect(readdirSync(home).sort()).toEqual(["images", "rootfs"])
    }))

  it.scopedLive("replacing a symbolic link by a file touches the link, not its target", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked(
        [symlink("a", join(outside, "victim")), symlink("b", join(outside, "dir"))],
        [file("a", "evil"), { ...directory("b"), mode: 0o777 }, hardlink("c", "a")]
      )
      expect(lstatSync(join(rootfs, "a")).isFile()).toBe(true)
      expect(lstatSync(join(rootfs, "b")).isDirectory()).toBe(true)
      expect(readFileSync(join(outside, "victim"), "utf8")).toBe("untouched")
      expect(mode(join(outside, "dir"))).not.toBe(0o777)
    }))

  it.scopedLive("a hard link to a symbolic link is the link itself, and writing it anew leaves the target alone", () =>
    Effect.gen(function*() {
      const rootfs = yield* unpacked([symlink("a", join(outside, "victim")), hardlink("b", "a")], [file("b", "evil")])
      expect(lstatSync(join(rootfs, "a")).isSymbolicLink()).toBe(true)
      expect(readFileSync(join(outside, "victim"), "utf8")).toBe("untouched")
    }))
})

describe("an image is not unpacked", () => {
  const reasonOf = (options: TestImageOptions, bench: Bench = {}) =>
    Effect.gen(function*() {
      const home = temporaryDirectory("refused")
      const error = yield* Effect.flip(deployed(options, { ...bench, home }))
      expect(readdirSync(join(home, "rootfs"))).toEqual([])
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
        "cut inside a file": gzipSync(archive.subarray(0, 1500)),
        "cut inside a header": gzipSync(archive.subarray(0, 300)),
        "gzip cut": gzipSync(archive).subarray(0, 40),
        "gzip of garbage": gzipSync(Buffer.alloc(1024, 0x41)),
        "garbage": Buffer.alloc(1024, 0x41),
        "deflate": deflateRawSync(archive),
        "a changed header": gzipSync(Buffer.concat([Buffer.from("b"), archive.subarray(1)])),
        "empty": Buffer.alloc(0)
      }
      for (const [name, bytes] of Object.entries(broken)) {
        const compress = () => bytes
        expect([name, yield* reasonOf({ archives: [archive], compress })]).toEqual([name, "invalid_image"])
      }
    }))

  it.scopedLive("when it unpacks to too many bytes or files", () =>
    Effect.gen(function*() {
      const bomb = yield* Effect.promise(() => tarOf([{ name: "bomb", content: Buffer.alloc(20_000_000) }]))
      const compress = (archive: Buffer) => gzipSync(archive, { level: constants.Z_BEST_COMPRESSION })
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

  it.scopedLive("when interrupted: the half is gone at once, and the next try makes the whole", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("interrupted")
      const registry = yield* Effect.promise(() => startFakeRegistry())
      const entries = Array.from({ length: 3000 }, (_, at) => file(`d/f${at}`))
      const built = yield* Effect.promise(() => testImage({ layers: [entries] }))
      const uri = registry.add("me/app", built, "v1")
      yield* Effect.gen(function*() {
        const images = yield* Images
        yield* images.mirror(yield* images.resolve(uri))
        const fiber = yield* Effect.fork(images.unpack(built.digest))
        yield* Effect.sleep("80 millis")
        expect(readdirSync(join(home, "rootfs"))).toHaveLength(1)
        yield* Fiber.interrupt(fiber)
        expect(readdirSync(join(home, "rootfs"))).toEqual([])
        yield* Effect.sleep("50 millis")
        expect(readdirSync(join(home, "rootfs"))).toEqual([])
        const { rootfs } = yield* images.unpack(built.digest)
        expect(readdirSync(join(rootfs, "d"))).toHaveLength(3000)
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host], home })))
      yield* Effect.promise(registry.close)
    }))
})
