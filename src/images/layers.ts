import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type Extract, extract, type Header } from "tar-stream"
import { hostile, shown } from "./entry-path.ts"
import { ImageError, imageError } from "./ImageError.ts"
import type { Limits } from "./limits.ts"
import { Tree, type TreeEntry } from "./Tree.ts"
import { unpacked } from "./unpacked.ts"

/** One layer in the store, lowest first. `diffId` is the digest of the uncompressed archive. */
export interface Layer {
  readonly digest: string
  readonly path: string
  readonly diffId: string
}

/** The remaining budget of the layers of one image. */
interface Budget {
  bytes: number
  entries: number
  /** The bytes at the start, and the error's reason when they are used up. */
  readonly total: number
  readonly reason: "too_large" | "over_budget"
}

const metered = (budget: Budget, onChunk: (chunk: Buffer) => void) =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      budget.bytes -= chunk.length
      if (budget.bytes < 0) {
        return done(imageError(budget.reason, `The image unpacks to more than ${budget.total} bytes`))
      }
      onChunk(chunk)
      done(null, chunk)
    }
  })

const kinds: Readonly<Record<string, TreeEntry["type"] | "skipped">> = {
  "file": "file",
  "contiguous-file": "file",
  "directory": "directory",
  "symlink": "symlink",
  "link": "link",
  "character-device": "skipped",
  "block-device": "skipped",
  "fifo": "skipped"
}

/** Far more than any real archive has: more extended attributes would only slow the reader down. */
const maxAttributes = 1000

/** The year 9999; file systems support only a few centuries more. */
const maxTime = 253_402_300_799_000

const attributesOf = (header: Header): ReadonlyArray<string> =>
  typeof header.pax === "object" && header.pax !== null ? Object.keys(header.pax) : []

const treeEntry = (header: Header): TreeEntry | undefined => {
  const attributes = attributesOf(header)
  if (attributes.length > maxAttributes) throw hostile(`${shown(header.name)} has ${attributes.length} attributes`)
  const type = kinds[header.type]
  if (type === undefined || attributes.some((name) => name.startsWith("GNU.sparse"))) {
    throw imageError("unsupported", `A layer holds ${shown(header.name)}, an entry of a kind that is not supported`)
  }
  if (type === "skipped") return undefined
  const { mode, mtime, name } = header
  // Old archives mark a directory only by a trailing slash.
  const isDirectory = type === "directory" || type === "file" && name.endsWith("/")
  // A time field may have up to 95 bits; an invalid date becomes 1970.
  const modified = Math.abs(mtime.getTime()) <= maxTime ? mtime : new Date(0)
  return { name, type: isDirectory ? "directory" : type, mode, mtime: modified, linkname: header.linkname ?? "" }
}

/** What the entries of layers are given to, in order: a tree on disk, or who looks for certain files. */
export interface LayerTarget {
  nextLayer(): void
  /** `content` is read only for a file, and to its end if it is read. */
  apply(entry: TreeEntry, content: AsyncIterable<unknown>): Promise<void>
}

const applyEntries = async (entries: Extract, target: LayerTarget, budget: Budget, limits: Limits) => {
  for await (const entry of entries) {
    if (--budget.entries < 0) throw imageError("too_large", `The image has more than ${limits.entries} files`)
    const fields = treeEntry(entry.header)
    if (fields !== undefined) await target.apply(fields, entry)
    entry.resume()
  }
}

const brokenLayer = (layer: Layer, cause: unknown): unknown => {
  if (cause instanceof ImageError || !(cause instanceof Error)) return cause
  // An error of a system call is a fault of this machine; others come from reading the archive or its compression.
  if ("syscall" in cause || cause.name === "AbortError") return cause
  return imageError("invalid_image", `Layer ${layer.digest} is not a readable archive: ${cause.message}`)
}

const applyLayer = async (layer: Layer, target: LayerTarget, budget: Budget, limits: Limits, signal: AbortSignal) => {
  const hash = createHash("sha256")
  const entries = extract()
  const reading = pipeline(
    createReadStream(layer.path),
    unpacked,
    metered(budget, (chunk) => hash.update(chunk)),
    entries,
    { signal }
  )
  target.nextLayer()
  const [read, applied] = await Promise.allSettled([reading, applyEntries(entries, target, budget, limits)])
  // When the tree refuses an entry, the pipeline only sees its stream close, so the tree's error comes first.
  const failures = [applied, read].flatMap((result) => result.status === "rejected" ? [result.reason] : [])
  if (signal.aborted) throw signal.reason
  if (failures.length > 0) {
    throw brokenLayer(layer, failures.find((failure) => failure instanceof ImageError) ?? failures[0])
  }
  const diffId = `sha256:${hash.digest("hex")}`
  if (diffId !== layer.diffId) {
    throw imageError("digest_mismatch", `Layer ${layer.digest} unpacks to ${diffId}, not to ${layer.diffId}`)
  }
}

/** What unpacking layers has taken of an image's limits. */
export interface Spent {
  readonly bytes: number
  readonly entries: number
}

/**
 * Reads the layers in order, up to `most` bytes, of which lower layers have spent some. Returns what is spent then. Throws
 * ImageError or a file system error.
 */
export const readLayers = async (
  target: LayerTarget,
  layers: ReadonlyArray<Layer>,
  limits: Limits,
  most: number,
  signal: AbortSignal,
  spent: Spent = { bytes: 0, entries: 0 }
): Promise<Spent> => {
  const total = Math.min(limits.unpacked, most)
  const reason = most < limits.unpacked ? "over_budget" : "too_large"
  const budget: Budget = { bytes: total - spent.bytes, entries: limits.entries - spent.entries, total, reason }
  for (const layer of layers) await applyLayer(layer, target, budget, limits, signal)
  return { bytes: total - budget.bytes, entries: limits.entries - budget.entries }
}

type Rest = Parameters<typeof readLayers> extends [LayerTarget, ...infer R] ? R : never

/** Layers to be unpacked into a directory. */
export interface Unpacking {
  readonly root: string
  readonly layers: ReadonlyArray<Layer>
  readonly limits: Limits
  readonly most: number
  readonly spent: Spent
}

/** The same into `root`, which has the lower layers' files. */
export const applyLayers = (root: string, ...rest: Rest): Promise<Spent> => readLayers(new Tree(root), ...rest)
