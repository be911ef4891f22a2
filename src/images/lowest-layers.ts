import { Schema } from "effect"
import { existsSync } from "node:fs"
import { chmod, link, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Layer, type Spent } from "./layers.ts"

const Record = Schema.parseJson(Schema.Struct({ diffId: Schema.String, bytes: Schema.Number, entries: Schema.Number }))

/** The same files once more, without another byte: names of the same inodes. Folders are new. */
const linkTree = async (from: string, to: string, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  for (const child of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, child.name), join(to, child.name)]
    if (!child.isDirectory()) await link(source, target)
    else {
      await mkdir(target)
      await linkTree(source, target, signal)
    }
  }
  await chmod(to, (await lstat(from)).mode & 0o1777)
}

/**
 * The unpacked lowest layers of images, one directory each, named by the hex digits of the layer's digest. Images have
 * links to their files: what many have (a distribution, this host's Node) is unpacked once, and takes disk and memory
 * once. Nobody ever writes to a file of an unpacked image; an upper layer replaces it.
 */
export const makeLowestLayers = (directory: string) => {
  const path = ({ digest }: Layer) => join(directory, digest.slice("sha256:".length))

  return {
    directory,
    /** Fills the empty directory with the layer's files, if they are kept; what unpacking them took, else undefined. */
    into: async (root: string, layer: Layer, signal: AbortSignal): Promise<Spent | undefined> => {
      const text = await readFile(join(path(layer), "layer.json"), "utf8").catch(() => undefined)
      if (text === undefined) return undefined
      const { diffId, ...spent } = Schema.decodeSync(Record)(text)
      // Another image may say that this layer unpacks to something else: it is found to be wrong by unpacking it.
      if (diffId !== layer.diffId) return undefined
      try {
        await linkTree(join(path(layer), "tree"), root, signal)
        return spent
      } catch {
        signal.throwIfAborted()
        // A file has only so many names, 65,000 with ext4.
        await rm(root, { recursive: true, force: true })
        await mkdir(root, { mode: 0o755 })
        return undefined
      }
    },
    /** Notes at `temporary` what the directory has now, which is the layer alone; `keep` keeps it, if that is possible. */
    note: async (root: string, layer: Layer, spent: Spent, temporary: string, signal: AbortSignal) => {
      await mkdir(join(temporary, "tree"), { recursive: true })
      const noted = await linkTree(root, join(temporary, "tree"), signal).then(() => true, () => false)
      signal.throwIfAborted()
      // Some file systems have no links; there each image is unpacked whole.
      if (noted) await writeFile(join(temporary, "layer.json"), JSON.stringify({ diffId: layer.diffId, ...spent }))
    },
    /** Refused where another image was first: a directory replaces none that has something in it. */
    keep: async (layer: Layer, temporary: string) => {
      if (!existsSync(join(temporary, "layer.json"))) return
      await mkdir(directory, { recursive: true })
      await rename(temporary, path(layer)).catch(() => {})
    }
  }
}
