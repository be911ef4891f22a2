import { type LayoutImage, writeLayout } from "#src/images/layout.ts"
import { Index } from "#src/images/manifest.ts"
import { isAbandoned, releaseTemporary, temporaryName } from "#src/images/temporary.ts"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { type ImageFile } from "./libraries.ts"

const Descriptor = Schema.Struct({ digest: Schema.String, size: Schema.Number })
const Manifest = Schema.parseJson(Schema.Struct({ config: Descriptor, layers: Schema.Array(Descriptor) }))
const decodeIndex = Schema.decodeSync(Schema.parseJson(Index))
/** In the index, so that it is never there without its image: what that was built from. */
const inputsAnnotation = "berth.inputs"
const hourMs = 60 * 60_000

const blobs = (layout: string) => join(layout, "blobs", "sha256")
const blob = (layout: string, digest: string) => join(blobs(layout), digest.replace("sha256:", ""))

const partsOf = async (layout: string, digest: string) => {
  const { config, layers } = Schema.decodeSync(Manifest)(await readFile(blob(layout, digest), "utf8"))
  return [config, ...layers]
}

const imageIn = async (layout: string) => decodeIndex(await readFile(join(layout, "index.json"), "utf8")).manifests[0]

/** The digest of the image built from these inputs, if the layout holds it completely. */
const present = async (layout: string, inputs: string): Promise<string | undefined> => {
  try {
    const image = await imageIn(layout)
    if (image?.annotations?.[inputsAnnotation] !== inputs) return undefined
    const parts = await partsOf(layout, image.digest)
    const sizes = await Promise.all(parts.map(async ({ digest }) => (await stat(blob(layout, digest))).size))
    return parts.every(({ size }, at) => size === sizes[at]) ? image.digest : undefined
  } catch {
    return undefined
  }
}

/**
 * Removes the blobs of images that were replaced: an image is 40 MB. Those of the last one stay, as somebody may have
 * found it just now, and those of this hour, which another process may be about to list.
 */
const keepOnly = async (layout: string, digests: ReadonlyArray<string>) => {
  const parts = await Promise.all(digests.map((digest) => partsOf(layout, digest).catch(() => [])))
  const kept = new Set([...digests, ...parts.flat().map(({ digest }) => digest)])
  for (const name of await readdir(blobs(layout))) {
    const path = join(blobs(layout), name)
    const age = await stat(path).then(({ mtimeMs }) => Date.now() - mtimeMs, () => 0)
    if (!kept.has(`sha256:${name}`) && age > hourMs) await rm(path, { force: true })
  }
}

/** Identifies large files (Node with its libraries has 100 MB) by size and modification time, beside other inputs. */
export const fingerprint = async (
  files: ReadonlyArray<ImageFile>,
  ...others: ReadonlyArray<string | Uint8Array>
): Promise<string> => {
  const hash = createHash("sha256").update(`1 ${process.arch} ${process.version}\n`)
  for (const other of others) hash.update(other)
  for (const { path, source } of files) {
    const { mtimeMs, size } = await stat(source)
    hash.update(`${path} ${source} ${size} ${mtimeMs}\n`)
  }
  return hash.digest("hex")
}

/** Makes an image from a folder of this call's own, which goes afterwards. */
type MakeImage = (scratch: string) => Promise<LayoutImage>

/** Writes the image apart, then moves it in, its index last: several processes may do so at the same time. */
const make = async (path: string, inputs: string, image: MakeImage) => {
  const name = temporaryName()
  const scratch = join(path, name)
  try {
    await mkdir(scratch, { recursive: true })
    const left = (await readdir(path)).filter(isAbandoned)
    await Promise.all(left.map((other) => rm(join(path, other), { recursive: true, force: true })))
    const made = join(scratch, "layout")
    const annotations = { [inputsAnnotation]: inputs }
    const { digest } = await Effect.runPromise(writeLayout(made, { ...await image(scratch), annotations }))
    const before = await imageIn(path).catch(() => undefined)
    await mkdir(blobs(path), { recursive: true })
    for (const hex of await readdir(blobs(made))) await rename(join(blobs(made), hex), join(blobs(path), hex))
    for (const file of ["oci-layout", "index.json"]) await rename(join(made, file), join(path, file))
    await keepOnly(path, [digest, ...before === undefined ? [] : [before.digest]])
    return digest
  } finally {
    await rm(scratch, { recursive: true, force: true })
    releaseTemporary(name)
  }
}

interface Cached {
  readonly path: string
  readonly digest: string
  readonly built: boolean
}

const making = new Map<string, Promise<Cached>>()

/** The one image of a layout, built again only when its inputs have changed; once for all who ask meanwhile. */
export const cachedLayout = (path: string, inputs: string, image: MakeImage): Promise<Cached> => {
  const key = JSON.stringify([path, inputs])
  const found = async () => {
    const unchanged = await present(path, inputs)
    return unchanged === undefined
      ? { path, digest: await make(path, inputs, image), built: true }
      : { path, digest: unchanged, built: false }
  }
  const cached = making.get(key) ?? found().finally(() => making.delete(key))
  making.set(key, cached)
  return cached
}
