import { type LayoutImage, writeLayout } from "#src/images/layout.ts"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type ImageFile } from "./libraries.ts"

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

/** The one image of a layout, built again only when its inputs have changed. */
export const cachedLayout = async (path: string, inputs: string, image: () => Promise<LayoutImage>) => {
  const unchanged = await present(path, inputs)
  if (unchanged !== undefined) return { path, digest: unchanged, built: false }
  await rm(join(path, recordFile), { force: true })
  const { digest } = await Effect.runPromise(writeLayout(path, await image()))
  await keepOnly(path, digest)
  await writeFile(join(path, recordFile), JSON.stringify({ inputs, digest }))
  return { path, digest, built: true }
}
