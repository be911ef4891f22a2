import { Images } from "#src/images/Images.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { lstatSync, readFileSync, readlinkSync, statSync } from "node:fs"
import { join } from "node:path"
import { full, long } from "../support/needs.ts"
import { type RawEntry, tarOf } from "../support/registry.ts"
import { directory, file, hardlink, symlink } from "./entries.ts"
import { deployed, fakeRegistry, image, imagesTest, tree } from "./images-test.ts"

const unpacked = (...layers: ReadonlyArray<ReadonlyArray<RawEntry>>) =>
  Effect.map(deployed({ layers }), ({ rootfs }) => rootfs)
const mode = (path: string) => lstatSync(path).mode & 0o7777

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

  it.scopedLive.skipIf(!full)(long("leaves the event loop responsive"), () =>
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
      const built = yield* image({ archives: [archive] })
      const registry = yield* fakeRegistry()
      const uri = registry.add("me/app", built, "v1")
      yield* Effect.gen(function*() {
        const images = yield* Images
        yield* images.mirror(yield* images.resolve(uri))
        const started = last = performance.now()
        longest = 0
        yield* images.unpack(built.digest)
        // A share of the whole, so that a busy machine does not matter.
        expect(longest).toBeLessThan((performance.now() - started) / 3)
      }).pipe(Effect.provide(imagesTest({ allow: [registry.host] })))
    }))
})
