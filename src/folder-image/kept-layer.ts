import { type LayoutEntry, type WrittenLayer } from "#src/images/layout.ts"
import { sharedLayer } from "#src/packages/package-image.ts"
import { existsSync } from "node:fs"
import { mkdir, readdir, rename, stat, utimes } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

/** Longer than a command may need from finding a layer to using it. */
const hourMs = 60 * 60_000

const missing = new Error("Nothing is kept")

/**
 * The layer that is kept at `place`, a layout which never changes once it is there.
 *
 * @param inputs what the layer was made from
 */
export const findKept = async (place: string, inputs: string): Promise<WrittenLayer | undefined> => {
  if (!existsSync(place)) return undefined
  const layer = await sharedLayer(place, inputs, () => Promise.reject(missing)).catch(() => undefined)
  if (layer !== undefined) await utimes(place, new Date(), new Date()).catch(() => {})
  return layer
}

/** Moves away what the same folder had before, under another lock; whoever has just found it may still read it. */
const retire = async (place: string, into: string) => {
  const parent = dirname(place)
  const [own = ""] = basename(place).split("-")
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${own}-`) || name === basename(place)) continue
    const { mtimeMs } = await stat(join(parent, name))
    if (Date.now() - mtimeMs > hourMs) await rename(join(parent, name), join(into, `retired-${name}`))
  }
}

/**
 * Makes a layer in `run`, where nobody else works, and keeps it at `place`, where it appears whole or not at all. Of
 * runs that end at the same time one keeps its layer, and all of them use that.
 */
export const makeKept = async (
  place: string,
  inputs: string,
  run: string,
  entries: () => Promise<ReadonlyArray<LayoutEntry>>
): Promise<WrittenLayer> => {
  const made = join(run, "layout")
  const layer = await sharedLayer(made, inputs, entries)
  await mkdir(dirname(place), { recursive: true })
  // What is there and can't be used is damaged.
  if (existsSync(place) && await findKept(place, inputs) === undefined) {
    await rename(place, join(run, "damaged")).catch(() => {})
  }
  // Refused where another run was first: a folder replaces none that has something in it.
  await rename(made, place).catch(() => {})
  await retire(place, run).catch(() => {})
  return await findKept(place, inputs) ?? layer
}
