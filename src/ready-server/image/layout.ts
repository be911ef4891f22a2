import { createHash, randomUUID } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { pack } from "tar-stream"

export interface LayerFile {
  /** Absolute path in the image. */
  readonly path: string
  readonly mode: number
  readonly content: { readonly source: string } | { readonly text: string }
}

export interface Layer {
  readonly directories: ReadonlyArray<{ readonly path: string; readonly mode: number }>
  readonly files: ReadonlyArray<LayerFile>
}

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface ImageSettings {
  readonly architecture: string
  readonly config: Readonly<Record<string, unknown>>
  readonly annotations: Readonly<Record<string, string>>
}

const blobs = (directory: string) => join(directory, "blobs", "sha256")
export const blobPath = (directory: string, digest: string) => join(blobs(directory), digest.replace("sha256:", ""))

/** Parents first, so that an unpacker never has to invent a directory. */
const withParents = (layer: Layer): ReadonlyMap<string, number> => {
  const modes = new Map(layer.directories.map(({ mode, path }) => [path, mode]))
  for (const path of [...modes.keys(), ...layer.files.map((file) => file.path)]) {
    for (let parent = dirname(path); parent !== "/"; parent = dirname(parent)) {
      if (!modes.has(parent)) modes.set(parent, 0o755)
    }
  }
  return new Map([...modes].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The same input gives the same bytes: sorted, of root, dated 1970. Not compressed: speed counts more than 60 MB. */
const writeLayer = async (directory: string, layer: Layer): Promise<Descriptor> => {
  const tar = pack()
  const hash = createHash("sha256")
  let size = 0
  const meter = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      size += chunk.length
      done(null, chunk)
    }
  })
  const temporary = join(blobs(directory), `.${randomUUID()}`)
  const written = pipeline(tar, meter, createWriteStream(temporary))
  const fill = async () => {
    const common = { mtime: new Date(0), uid: 0, gid: 0 }
    for (const [path, mode] of withParents(layer)) {
      tar.entry({ ...common, name: `${path.slice(1)}/`, type: "directory", mode })
    }
    for (const file of layer.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      const header = { ...common, name: file.path.slice(1), mode: file.mode }
      if ("text" in file.content) tar.entry(header, file.content.text)
      else {
        const { source } = file.content
        await pipeline(createReadStream(source), tar.entry({ ...header, size: (await stat(source)).size }))
      }
    }
    tar.finalize()
  }
  try {
    await Promise.all([fill().catch((error: Error) => tar.destroy(error)), written])
    const digest = `sha256:${hash.digest("hex")}`
    await rename(temporary, blobPath(directory, digest))
    return { mediaType: "application/vnd.oci.image.layer.v1.tar", digest, size }
  } finally {
    await rm(temporary, { force: true })
  }
}

const writeJson = async (directory: string, mediaType: string, value: unknown): Promise<Descriptor> => {
  const bytes = Buffer.from(JSON.stringify(value))
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`
  await writeFile(blobPath(directory, digest), bytes)
  return { mediaType, digest, size: bytes.length }
}

/** Writes an OCI image layout (image-spec, image-layout.md) with one image; `index.json` last, in one step. */
export const writeLayout = async (
  directory: string,
  layers: ReadonlyArray<Layer>,
  image: ImageSettings
): Promise<Descriptor> => {
  await mkdir(blobs(directory), { recursive: true })
  const written: Array<Descriptor> = []
  for (const layer of layers) written.push(await writeLayer(directory, layer))
  const config = await writeJson(directory, "application/vnd.oci.image.config.v1+json", {
    architecture: image.architecture,
    os: "linux",
    config: image.config,
    rootfs: { type: "layers", diff_ids: written.map(({ digest }) => digest) }
  })
  const mediaType = "application/vnd.oci.image.manifest.v1+json"
  const manifest = await writeJson(directory, mediaType, { schemaVersion: 2, mediaType, config, layers: written })
  await writeFile(join(directory, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }))
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{
      ...manifest,
      platform: { architecture: image.architecture, os: "linux" },
      annotations: image.annotations
    }]
  }
  const next = join(directory, `.index-${randomUUID()}`)
  await writeFile(next, JSON.stringify(index))
  await rename(next, join(directory, "index.json"))
  const kept = new Set([manifest, config, ...written].map(({ digest }) => digest.replace("sha256:", "")))
  for (const name of await readdir(blobs(directory))) {
    if (!kept.has(name) && !name.startsWith(".")) await rm(blobPath(directory, name), { force: true })
  }
  return manifest
}

/** The manifest's digest when the layout holds the image with this annotation, whole. */
export const findImage = async (directory: string, key: string, value: string): Promise<string | undefined> => {
  try {
    const read = async (path: string) => JSON.parse(await readFile(path, "utf8"))
    const { manifests: [first] } = await read(join(directory, "index.json"))
    if (first.annotations[key] !== value) return undefined
    const { config, layers } = await read(blobPath(directory, first.digest))
    for (const part of [first, config, ...layers] as ReadonlyArray<Descriptor>) {
      if ((await stat(blobPath(directory, part.digest))).size !== part.size) return undefined
    }
    return first.digest
  } catch {
    return undefined
  }
}
