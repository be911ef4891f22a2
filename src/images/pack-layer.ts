import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { lstat, open, readFile } from "node:fs/promises"
import { Readable, Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { type Pack, pack } from "tar-stream"

/** An entry of an image, at a path without a leading slash. Modes default to 0755 for directories, else 0644. */
export type LayoutEntry =
  | { readonly type: "file"; readonly path: string; readonly content: string | Uint8Array; readonly mode?: number }
  | { readonly type: "copy"; readonly path: string; readonly from: string; readonly mode?: number }
  | { readonly type: "directory"; readonly path: string; readonly mode?: number }
  | { readonly type: "symlink"; readonly path: string; readonly target: string }

/** Bytes of a file that is read at once: a stream for each small file takes longer than all that is in them. */
const atOnce = 1024 ** 2

const entryInto = (archive: Pack, entry: LayoutEntry, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    // No owner and a fixed time, so that the same input gives the same bytes.
    const header = { name: entry.path, mtime: new Date(0), uid: 0, gid: 0 }
    const done = (failure?: Error | null) => failure ? reject(failure) : resolve()
    if (entry.type === "directory") archive.entry({ ...header, type: "directory", mode: entry.mode ?? 0o755 }, done)
    else if (entry.type === "symlink") archive.entry({ ...header, type: "symlink", linkname: entry.target }, done)
    else if (entry.type === "file") {
      archive.entry({ ...header, mode: entry.mode ?? 0o644 }, Buffer.from(entry.content), done)
    } else {
      lstat(entry.from).then(async ({ size }) => {
        const file = { ...header, size, mode: entry.mode ?? 0o644 }
        if (size <= atOnce) archive.entry(file, await readFile(entry.from), done)
        else await pipeline(createReadStream(entry.from), archive.entry(file, done), { signal })
      }).catch(reject)
    }
  })

const fill = async (archive: Pack, entries: ReadonlyArray<LayoutEntry>, signal: AbortSignal) => {
  const sorted = [...entries].sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
  for (const entry of sorted) await entryInto(archive, entry, signal)
  archive.finalize()
}

const tap = (onChunk: (chunk: Buffer) => void) =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onChunk(chunk)
      done(null, chunk)
    }
  })

/** The entries of a layer, and the file that it is written to, which is not there yet. */
export interface PackTask {
  readonly file: string
  readonly entries: ReadonlyArray<LayoutEntry>
}

/** The digest and bytes of the compressed layer, and the digest of the archive in it. */
export interface Packed {
  readonly digest: string
  readonly size: number
  readonly diffId: string
}

/** Writes a layer into a file. The same entries give the same bytes. */
export const packLayer = async ({ entries, file }: PackTask, signal: AbortSignal): Promise<Packed> => {
  const plain = createHash("sha256")
  const packed = createHash("sha256")
  let size = 0
  // Opened here, because a stream opens its file later, maybe after a failure has removed it.
  const sink = (await open(file, "wx")).createWriteStream({ flush: true })
  const archive = pack()
  const written = pipeline(
    Readable.from(archive),
    tap((chunk) => plain.update(chunk)),
    // Half the time of the default level, for 10 % more bytes.
    createGzip({ level: 1 }),
    tap((chunk) => {
      size += chunk.length
      packed.update(chunk)
    }),
    sink,
    { signal }
  )
  await Promise.all([
    written,
    fill(archive, entries, signal).catch((cause: unknown) => {
      archive.destroy(cause instanceof Error ? cause : new Error(String(cause)))
      throw cause
    })
  ])
  return { digest: `sha256:${packed.digest("hex")}`, size, diffId: `sha256:${plain.digest("hex")}` }
}
