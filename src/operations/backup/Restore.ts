import { BlobStore } from "#src/blobs/BlobStore.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { startPipelinesOver } from "#src/deployments/start-pipelines-over.ts"
import { adoptBlobs } from "#src/hub/adopt-blobs.ts"
import { storeWriter } from "#src/images/stored-files.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Effect } from "effect"
import { checkArchive, type Checked, readArchive } from "./archive-reader.ts"
import { DatabaseCopy, type Load, type Rows } from "./DatabaseCopy.ts"
import { BackupError } from "./format.ts"

export interface RestoreOptions {
  readonly file: string
  readonly tell: (message: string) => void
}

const failed = (error: unknown) =>
  error instanceof BackupError ? error : new BackupError({ message: `The restore failed: ${messageOf(error)}` })

/** Runs first, because it is harmless when a later step fails: unused images are collected. */
const restoreImages = async ({ file, tell }: RestoreOptions, home: string, images: Checked["contents"]["images"]) => {
  const count = Object.keys(images).length
  if (count === 0) return
  const store = storeWriter(home)
  await store.prepare()
  await readArchive(file, {
    image: (digest, chunks) => store.blob(digest, images[digest] ?? 0, chunks),
    imageIndex: store.index
  })
  tell(`Images: ${count} files`)
}

/** Also before the rows, which name them. What no row names is removed by the job that looks for that. */
const restoreBlobs = async ({ file, tell }: RestoreOptions, blobs: typeof BlobStore.Service, { contents }: Checked) => {
  const count = Object.keys(contents.blobs).length
  if (count === 0) return
  await readArchive(file, { blob: (key, bytes) => Effect.runPromise(blobs.put(key, bytes)) })
  tell(`Documents: ${count} files`)
}

/** Rows come table by table, each in parts. Every table must have as many rows as the backup recorded. */
const feedFrom = ({ file, tell }: RestoreOptions, { contents, head }: Checked): Load["feed"] => async (open) => {
  let current: { readonly name: string; readonly rows: Rows } | undefined
  const end = async () => {
    if (current === undefined) return
    const { name, rows } = current
    const count = await rows.end()
    const expected = contents.tables[name]?.rows
    if (count !== expected) {
      throw new BackupError({ message: `The backup says that ${name} has ${expected} rows, but ${count} arrived` })
    }
    tell(`${name}: ${count} rows`)
    current = undefined
  }
  await readArchive(file, {
    part: async (name, chunks) => {
      if (current !== undefined && current.name !== name) await end()
      const table = head.tables.find((table) => table.name === name)
      if (table === undefined) throw new BackupError({ message: `${file} has rows of ${name}, which it does not list` })
      current ??= { name, rows: open(table) }
      for await (const chunk of chunks) await current.rows.write(chunk)
    }
  })
  await end()
  return contents.sequences
}

/**
 * Restores an installation from a backup into an empty database. The whole file is checked before anything is written,
 * and the database load is atomic.
 */
export const restore = Effect.fn("restore")(function*(options: RestoreOptions) {
  const { home } = yield* CurrentSettings
  options.tell(`Checking ${options.file}`)
  const checked = yield* Effect.tryPromise({ try: () => checkArchive(options.file), catch: failed })
  const { contents, head } = checked
  yield* Effect.tryPromise({ try: () => restoreImages(options, home, contents.images), catch: failed })
  const blobs = yield* BlobStore
  yield* Effect.tryPromise({ try: () => restoreBlobs(options, blobs, checked), catch: failed })
  yield* (yield* DatabaseCopy).load({
    migration: head.migration,
    tables: head.tables,
    feed: feedFrom(options, checked),
    afterwards: [startPipelinesOver, ...adoptBlobs(Object.keys(contents.blobs))]
  })
  return { ...head, rows: Object.values(contents.tables).reduce((sum, { rows }) => sum + rows, 0) }
})
