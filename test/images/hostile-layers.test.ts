import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RawEntry } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { directory, file, hardlink, symlink } from "./entries.ts"
import { deployed, tree } from "./images-test.ts"

const unpacked = (...layers: ReadonlyArray<ReadonlyArray<RawEntry>>) =>
  Effect.map(deployed({ layers }), ({ rootfs }) => rootfs)
const mode = (path: string) => lstatSync(path).mode & 0o7777

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
