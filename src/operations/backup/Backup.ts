import { BlobStore } from "#src/blobs/BlobStore.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { version } from "#src/config/version.ts"
import { storedBlobs, storedIndex } from "#src/images/stored-files.ts"
import { Effect, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { type ArchiveWriter, writeArchive } from "./archive-writer.ts"
import { DatabaseCopy, type Dump, type Table } from "./DatabaseCopy.ts"
import { BackupError, blobName, Contents, format, Head, imageName, names, partName } from "./format.ts"

export interface BackupOptions {
  readonly file: string
  /** Whether to include the stored images. Without them they are pulled again after a restore. */
  readonly images: boolean
  readonly tell: (message: string) => void
}

const partBytes = 4 * 1024 ** 2

/** Adds the rows of a table, in parts that fit into memory. */
const addTable = async (archive: ArchiveWriter, { read }: Dump, table: Table) => {
  const hash = createHash("sha256")
  const rows = read(table)
  let bytes = 0
  let parts = 0
  let pending: Array<Buffer> = []
  let size = 0
  const flush = async () => {
    if (size > 0) await archive.add(partName(table.name, ++parts), Buffer.concat(pending))
    pending = []
    size = 0
  }
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
    size += chunk.length
    pending.push(chunk)
    if (size >= partBytes) await flush()
  }
  await flush()
  return { rows: rows.rowCount, bytes, sha256: hash.digest("hex") }
}

const addImages = async (archive: ArchiveWriter, home: string) => {
  const images: Record<string, number> = {}
  for await (const { bytes, digest, size } of storedBlobs(home)) {
    await archive.addStream(imageName(digest), size, bytes)
    images[digest] = size
  }
  const index = await storedIndex(home)
  if (index !== undefined) await archive.add(names.imageIndex, index)
  return images
}

/** Those that the rows name are there: a file stays for an hour after the last row that named it. */
const addBlobs = async (archive: ArchiveWriter, blobs: typeof BlobStore.Service) => {
  const added: Record<string, Contents["blobs"][string]> = {}
  for (const key of await Effect.runPromise(blobs.list)) {
    const bytes = Option.getOrUndefined(await Effect.runPromise(blobs.get(key)))
    if (bytes === undefined) continue
    await archive.add(blobName(key), bytes)
    added[key] = { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }
  }
  return added
}

const errorText = (file: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "ENOSPC" || code === "EDQUOT") return `The backup can't be written: the disk of ${file} is full`
  if (code === "ENOENT" || code === "ENOTDIR") return `The backup can't be written: the folder of ${file} is not there`
  if (code === "EISDIR") return `The backup can't be written: ${file} is a folder`
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return `The backup can't be written: this user may not write ${file}`
  }
  return `The backup failed, and no file was left: ${message}`
}

/** Writes a consistent snapshot of the installation into one file. */
export const backup = Effect.fn("backup")(function*({ file, images, tell }: BackupOptions) {
  const { home } = yield* CurrentSettings
  const blobs = yield* BlobStore
  const dump = yield* (yield* DatabaseCopy).dump
  const { keyIds, migration, tables } = dump
  const createdAt = new Date().toISOString()
  const contents: { -readonly [K in keyof Contents]: Contents[K] } = {
    tables: {},
    sequences: [],
    images: {},
    blobs: {}
  }
  yield* Effect.tryPromise({
    try: () =>
      writeArchive(file, async (archive) => {
        const head: Head = { format, program: version, migration, createdAt, keyIds, tables }
        await archive.add(names.head, Schema.encodeSync(Head)(head))
        for (const table of tables) {
          const added = await addTable(archive, dump, table)
          contents.tables = { ...contents.tables, [table.name]: added }
          if (added.rows > 0) tell(`${table.name}: ${added.rows} rows`)
        }
        contents.sequences = await dump.sequences()
        contents.blobs = await addBlobs(archive, blobs)
        const files = Object.keys(contents.blobs).length
        if (files > 0) tell(`Documents: ${files} files`)
        if (images) {
          contents.images = await addImages(archive, home)
          tell(`Images: ${Object.keys(contents.images).length} files`)
        }
        await archive.add(names.contents, Schema.encodeSync(Contents)(contents))
      }),
    catch: (error) => new BackupError({ message: errorText(file, error) })
  })
  return { keyIds, rows: Object.values(contents.tables).reduce((sum, { rows }) => sum + rows, 0) }
}, Effect.scoped)
