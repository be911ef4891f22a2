import { type LayoutEntry, writeLayout } from "#src/images/layout.ts"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { type ImageFile, nodeFiles } from "./libraries.ts"

export interface ReadyImage {
  /** Absolute path of the OCI image layout: `oci:` + path is its reference. */
  readonly path: string
  /** Digest of the image manifest. */
  readonly digest: string
  /** False when an image with the same content already existed. */
  readonly built: boolean
}

/** Next to this code when it runs from dist/, else in the project's dist/. */
const bundledServer = (): string => {
  const candidates = ["ready-server.js", "../../dist/ready-server.js"].map((place) =>
    fileURLToPath(new URL(place, import.meta.url))
  )
  const found = candidates.find((place) => existsSync(place))
  if (found === undefined) throw new Error("dist/ready-server.js is not there: run npm run build first")
  return found
}

const Descriptor = Schema.Struct({ digest: Schema.String, size: Schema.Number })
const Manifest = Schema.parseJson(Schema.Struct({ config: Descriptor, layers: Schema.Array(Descriptor) }))
/** Stored with the layout: what its image was built from. */
const Record = Schema.parseJson(Schema.Struct({ inputs: Schema.String, digest: Schema.String }))
const recordFile = "berth-inputs.json"

const blobs = (layout: string) => join(layout, "blobs", "sha256")
const blob = (layout: string, digest: string) => join(blobs(layout), digest.replace("sha256:", ""))

const partsOf = async (layout: string, digest: string) => {
  const { config, layers } = Schema.decodeSync(Manifest)(await readFile(blob(layout, digest), "utf8"))
  return [config, ...layers]
}

/** The digest of the image built from these inputs, if the layout holds it completely. */
const present = async (layout: string, inputs: string): Promise<string | undefined> => {
  try {
    await stat(join(layout, "index.json"))
    const record = Schema.decodeSync(Record)(await readFile(join(layout, recordFile), "utf8"))
    const parts = await partsOf(layout, record.digest)
    const sizes = await Promise.all(parts.map(async ({ digest }) => (await stat(blob(layout, digest))).size))
    return record.inputs === inputs && parts.every(({ size }, at) => size === sizes[at]) ? record.digest : undefined
  } catch {
    return undefined
  }
}

/** Removes the blobs of replaced images: an image is 40 MB. */
const keepOnly = async (layout: string, digest: string) => {
  const kept = new Set([digest, ...(await partsOf(layout, digest)).map((part) => part.digest)])
  for (const name of await readdir(blobs(layout))) {
    if (!kept.has(`sha256:${name}`)) await rm(join(blobs(layout), name), { force: true })
  }
}

/** The server by its content; Node and its libraries (100 MB) by size and modification time. */
const fingerprint = async (server: string, files: ReadonlyArray<ImageFile>): Promise<string> => {
  const hash = createHash("sha256").update(`1 ${process.arch} ${process.version}\n`).update(await readFile(server))
  for (const { path, source } of files) {
    const { mtimeMs, size } = await stat(source)
    hash.update(`${path} ${source} ${size} ${mtimeMs}\n`)
  }
  return hash.digest("hex")
}

const users = "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"

/**
 * Builds the OCI image of the ready server from scratch, without Docker: the Node that runs this, its libraries, and
 * the one bundled file. Takes two or three seconds; does nothing when the inputs have not changed.
 *
 * @param outDir where the image layout goes; made when absent
 */
export const buildReadyImage = async (
  outDir: string,
  options: { readonly server?: string } = {}
): Promise<ReadyImage> => {
  if (process.platform !== "linux") throw new Error("The ready image can only be made on Linux: it takes this Node")
  const path = resolve(outDir)
  const server = options.server ?? bundledServer()
  const { files, libraryPath, node } = await nodeFiles()
  const inputs = await fingerprint(server, files)
  const unchanged = await present(path, inputs)
  if (unchanged !== undefined) return { path, digest: unchanged, built: false }
  await rm(join(path, recordFile), { force: true })

  const runtime: ReadonlyArray<LayoutEntry> = [
    ...files.map((file) => ({ type: "copy", path: file.path.slice(1), from: file.source, mode: 0o755 }) as const),
    { type: "file", path: "etc/passwd", content: users },
    { type: "file", path: "etc/group", content: "root:x:0:\nnogroup:x:65534:\n" },
    { type: "directory", path: "tmp", mode: 0o1777 },
    // Mount points: a driver that mounts the image read-only cannot make them.
    ...["dev", "proc", "sys"].map((path) => ({ type: "directory", path }) as const)
  ]
  const app: ReadonlyArray<LayoutEntry> = [
    { type: "copy", path: "app/server.js", from: server },
    { type: "file", path: "app/package.json", content: "{\"type\":\"module\"}\n" }
  ]
  const libraries = libraryPath === undefined ? [] : [`LD_LIBRARY_PATH=${libraryPath}`]
  const { digest } = await Effect.runPromise(writeLayout(path, {
    layers: [runtime, app],
    config: {
      entrypoint: [node, "/app/server.js"],
      cmd: [],
      env: ["PATH=/usr/local/bin:/usr/bin:/bin", "NODE_ENV=production", "PORT=8080", ...libraries],
      workingDir: "/app",
      user: ""
    }
  }))
  await keepOnly(path, digest)
  await writeFile(join(path, recordFile), JSON.stringify({ inputs, digest }))
  return { path, digest, built: true }
}
