import { entriesBelow, type LayoutImage, writeLayout } from "#src/images/layout.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Bench, deployImage, imagesTest } from "./images-test.ts"

const config = { entrypoint: ["/app"], cmd: ["serve"], env: ["A=b"], workingDir: "/srv", user: "10" }
const simple = {
  config,
  layers: [
    [{ type: "file", path: "app", content: "#!/bin/true\n", mode: 0o755 }, { type: "directory", path: "srv" }],
    [{ type: "symlink", path: "link", target: "app" }]
  ]
} satisfies LayoutImage
const written = (image: LayoutImage) =>
  Effect.gen(function*() {
    const directory = temporaryDirectory("layout")
    return { directory, ...yield* writeLayout(directory, image) }
  })
const deploy = (uri: string, bench: Bench = {}) => Effect.provide(deployImage(uri), imagesTest(bench))
const reason = (uri: string, bench: Bench = {}) => Effect.map(Effect.flip(deploy(uri, bench)), ({ reason }) => reason)

describe("an image in a layout on disk", () => {
  it.scopedLive("is written, then deployed like one of a registry", () =>
    Effect.gen(function*() {
      const layout = yield* written(simple)
      const deployed = yield* deploy(`oci:${layout.directory}`)
      expect(deployed.resolved.digest).toBe(layout.digest)
      expect(deployed.config).toEqual(config)
      expect(readFileSync(join(deployed.rootfs, "link"), "utf8")).toBe("#!/bin/true\n")
      expect(statSync(join(deployed.rootfs, "app")).mode & 0o777).toBe(0o755)
    }))

  it.scopedLive("has the same digest each time it is written, in whatever order", () =>
    Effect.gen(function*() {
      const [first] = simple.layers
      const one = yield* written(simple)
      const two = yield* written({ ...simple, layers: [[...first ?? []].reverse(), ...simple.layers.slice(1)] })
      expect(two.digest).toBe(one.digest)
    }))

  it.scopedLive("may be made of a directory's files", () =>
    Effect.gen(function*() {
      const source = temporaryDirectory("source")
      mkdirSync(join(source, "sub"))
      writeFileSync(join(source, "sub", "large"), Buffer.alloc(3_000_000, "abc"))
      chmodSync(join(source, "sub", "large"), 0o750)
      symlinkSync("sub/large", join(source, "link"))
      const layout = yield* written({ config, layers: [yield* entriesBelow(source, "opt/app")] })
      const { rootfs } = yield* deploy(`oci:${layout.directory}`)
      expect(readFileSync(join(rootfs, "opt/app/link")).equals(Buffer.alloc(3_000_000, "abc"))).toBe(true)
      expect(statSync(join(rootfs, "opt/app/sub/large")).mode & 0o777).toBe(0o750)
    }))

  it.scopedLive("fails to be written when a file is missing, and leaves nothing half written", () =>
    Effect.gen(function*() {
      const directory = temporaryDirectory("layout")
      const layers = [[{ type: "copy", path: "x", from: "/nonexistent/file" }]] as const
      expect((yield* Effect.flip(writeLayout(directory, { config, layers }))).reason).toBe("storage")
      expect(readdirSync(join(directory, "blobs/sha256"))).toEqual([])
    }))

  it.scopedLive("is chosen by its tag where a layout has several, and replaced under the same tag", () =>
    Effect.gen(function*() {
      const { directory } = yield* written({ ...simple, tag: "one" })
      const two = yield* writeLayout(directory, { ...simple, tag: "two", config: { ...config, user: "2" } })
      expect((yield* deploy(`oci:${directory}:two`)).config.user).toBe("2")
      expect((yield* deploy(`oci:${directory}:one`)).config.user).toBe("10")
      expect(yield* reason(`oci:${directory}`)).toBe("invalid_reference")
      expect(yield* reason(`oci:${directory}:three`)).toBe("not_found")
      const again = yield* writeLayout(directory, { ...simple, tag: "one", config: { ...config, user: "2" } })
      expect(again.digest).toBe(two.digest)
      expect((yield* deploy(`oci:${directory}:one`)).config.user).toBe("2")
    }))

  it.scopedLive("is refused in production", () =>
    Effect.gen(function*() {
      const { directory } = yield* written(simple)
      expect(yield* reason(`oci:${directory}`, { production: true })).toBe("not_allowed")
    }))

  it.scopedLive("says what to do where there is none: of the ready-made server's image, how it is built", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory("empty")
      const said = (folder: string) =>
        Effect.map(Effect.flip(deploy(`oci:${join(home, folder)}`)), ({ message }) => message)
      const missing = (folder: string) =>
        `oci:${home}/${folder} does not exist: ${home}/${folder}/index.json is not there; `
      expect(yield* said("ready-image")).toBe(
        `${missing("ready-image")}build it with npm run image:ready, BERTH_HOME as the platform has it`
      )
      expect(yield* said("other")).toBe(`${missing("other")}write an OCI layout there, as skopeo copy does`)
    }))

  it.scopedLive("is refused for another architecture, wrong bytes, and what is no layout", () =>
    Effect.gen(function*() {
      const other = yield* written({ ...simple, architecture: "s390x" })
      expect(yield* reason(`oci:${other.directory}`)).toBe("wrong_architecture")
      expect(yield* reason("oci:/nonexistent")).toBe("not_found")
      expect(yield* reason(`oci:${temporaryDirectory("empty")}`)).toBe("not_found")
      const text = temporaryDirectory("text")
      writeFileSync(join(text, "index.json"), "{}")
      expect(yield* reason(`oci:${text}`)).toBe("invalid_image")
      const strange = temporaryDirectory("strange")
      mkdirSync(join(strange, "index.json"))
      expect(yield* reason(`oci:${strange}`)).toBe("not_found")
      const { digest, directory } = yield* written(simple)
      const blob = (digest: string) => join(directory, "blobs/sha256", digest.slice(7))
      const manifest = JSON.parse(readFileSync(blob(digest), "utf8"))
      const home = temporaryDirectory("images")
      truncateSync(blob(manifest.layers[0].digest), 40)
      expect(yield* reason(`oci:${directory}`, { home })).toBe("digest_mismatch")
      expect(readdirSync(join(home, "images/blobs/sha256"))).not.toContain(digest.slice(7))
      writeFileSync(blob(digest), "{}")
      expect(yield* reason(`oci:${directory}`)).toBe("digest_mismatch")
    }))
})
