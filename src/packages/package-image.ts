import { type Programs } from "#src/format/package-programs.ts"
import { storageError } from "#src/images/ImageError.ts"
import { entriesBelow, type LayoutEntry, writeLayout, type WrittenLayer } from "#src/images/layout.ts"
import { cachedLayout, fingerprint } from "#src/ready-image/cached-layout.ts"
import { type NodeRuntime, nodeRuntime } from "#src/ready-image/node-runtime.ts"
import { bundledProgram } from "#src/shared/bundled-program.ts"
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { hostNode, type MachineNode } from "./machine-node.ts"

/** Where the package is in its image. */
export const appFolder = "/app"
export const shimFolder = "berth"
/** What serves a program's stdio over HTTP, at the end of such an image's ENTRYPOINT. */
export const shimProgram = `/${shimFolder}/stdio-shim.js`

const Blob = Schema.Struct({ mediaType: Schema.String, digest: Schema.String, size: Schema.Number })
const Manifest = Schema.parseJson(Schema.Struct({ config: Blob, layers: Schema.NonEmptyArray(Blob) }))
const Config = Schema.parseJson(
  Schema.Struct({ rootfs: Schema.Struct({ diff_ids: Schema.NonEmptyArray(Schema.String) }) })
)

/** A layer that many images share, built once for this host's programs. */
export interface Runtime extends Pick<NodeRuntime, "node" | "env" | "libraryFolders"> {
  readonly layers: ReadonlyArray<WrittenLayer>
  /** Stands for everything in an image that is not of its package. */
  readonly identity: string
}

const writtenLayer = async (layout: string, digest: string): Promise<WrittenLayer> => {
  const blob = (of: string) => join(layout, "blobs", "sha256", of.replace("sha256:", ""))
  const { config, layers: [descriptor] } = Schema.decodeSync(Manifest)(await readFile(blob(digest), "utf8"))
  const { rootfs: { diff_ids: [diffId] } } = Schema.decodeSync(Config)(await readFile(blob(config.digest), "utf8"))
  return { file: blob(descriptor.digest), descriptor, diffId }
}

const emptyConfig = { entrypoint: [], cmd: [], env: [], workingDir: "/", user: "" }

/** A cached layer of these entries, below `folder`; they may be made in a folder that goes afterwards. */
export const sharedLayer = async (
  folder: string,
  inputs: string,
  entries: (scratch: string) => Promise<ReadonlyArray<LayoutEntry>>
) => {
  const { digest } = await cachedLayout(
    folder,
    inputs,
    async (scratch) => ({ layers: [await entries(scratch)], config: emptyConfig })
  )
  return writtenLayer(folder, digest)
}

/** Node with its libraries, and the program that serves stdio over HTTP. */
export const packageRuntime = (
  folder: string,
  { binary, version }: MachineNode = hostNode
): Effect.Effect<Runtime, ReturnType<ReturnType<typeof storageError>>> =>
  Effect.tryPromise({
    try: async () => {
      const { entries, env, files, libraryFolders, node } = await nodeRuntime(binary)
      const shim = await readFile(bundledProgram("stdio-shim.js"))
      const place = join(folder, binary === hostNode.binary ? "runtime-node" : `runtime-node-${version}`)
      const layer = await sharedLayer(place, await fingerprint(files, shim), async () => [
        ...entries,
        { type: "file", path: `${shimFolder}/stdio-shim.js`, content: shim },
        { type: "file", path: `${shimFolder}/package.json`, content: "{\"type\":\"module\"}\n" }
      ])
      return { node, env, libraryFolders, layers: [layer], identity: layer.descriptor.digest }
    },
    catch: storageError("Making the runtime of packages")
  })

/** Modes alike for everyone, and neither links nor names that mean a deletion in a layer (image-spec, layer.md). */
export const plain = (entry: LayoutEntry): ReadonlyArray<LayoutEntry> => {
  const name = entry.path.slice(entry.path.lastIndexOf("/") + 1)
  if (entry.type === "symlink" || name.startsWith(".wh.")) return []
  const executable = entry.type === "directory" || ((entry.mode ?? 0) & 0o111) > 0
  return [{ ...entry, mode: executable ? 0o755 : 0o644 }]
}

/** Folders of the installation and where they go in the image. */
export type Contents = ReadonlyArray<{ readonly from: string; readonly to: string }>

/**
 * Writes the image of an installed package into the layout at `layout`. The same files give the same digest.
 *
 * @param ran packages whose install scripts were run: told in the image, which is another one even if they wrote nothing
 */
export const writePackageImage = Effect.fn("packages.writeImage")(function*(
  layout: string,
  { env, layers, node }: Runtime,
  contents: Contents,
  programs: Programs,
  lock: string,
  ran: ReadonlyArray<string> = []
) {
  const below = yield* Effect.forEach(contents, ({ from, to }) => entriesBelow(from, to))
  const files = below.flat().flatMap(plain).filter(({ path }) => !path.endsWith("node_modules/.package-lock.json"))
  return yield* writeLayout(layout, {
    layers: [...layers, [
      ...files,
      { type: "file", path: `${shimFolder}/lock`, content: lock },
      ...ran.length === 0 ? [] : [
        { type: "file", path: `${shimFolder}/scripts`, content: `${ran.join("\n")}\n` } as const
      ],
      { type: "file", path: `${shimFolder}/programs.json`, content: `${JSON.stringify(programs)}\n` }
    ]],
    config: {
      // One thread of V8's is enough for what it does, and machines may have few.
      entrypoint: [node, "--v8-pool-size=1", shimProgram],
      cmd: [],
      env: [...env, "HOME=/tmp"],
      workingDir: appFolder,
      user: ""
    }
  })
})
