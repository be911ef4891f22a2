import { isRunning } from "#src/shared/is-running.ts"
import { randomBytes } from "node:crypto"
import { open, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { type Pack, pack } from "tar-stream"

/** Deletes what killed backups to this file left. */
const dropAbandoned = async (file: string) => {
  const name = basename(file)
  for (const entry of await readdir(dirname(file))) {
    const [, pid] = entry.startsWith(`${name}.`)
      ? /^(\d+)-[0-9a-f]+\.part$/.exec(entry.slice(name.length + 1)) ?? []
      : []
    if (pid !== undefined && !isRunning(Number(pid))) await rm(resolve(dirname(file), entry), { force: true })
  }
}

const flushDirectory = async (path: string) => {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}

export interface ArchiveWriter {
  readonly add: (name: string, content: Uint8Array | string) => Promise<void>
  readonly addStream: (name: string, size: number, content: Readable) => Promise<void>
}

/**
 * Writes a gzipped tar atomically: under another name first, with mode 0600, and renamed when every byte is synced to
 * the disk.
 */
export const writeArchive = async (target: string, fill: (archive: ArchiveWriter) => Promise<void>): Promise<void> => {
  const file = resolve(target)
  await dropAbandoned(file)
  const part = `${file}.${process.pid}-${randomBytes(4).toString("hex")}.part`
  // Opened here, because a stream opens its file later, maybe after a failure has removed it.
  const output = (await open(part, "wx", 0o600)).createWriteStream({ flush: true })
  const archive: Pack = pack()
  const add: ArchiveWriter["add"] = (name, content) =>
    new Promise((done, reject) => {
      archive.entry({ name, mode: 0o600 }, Buffer.from(content), (error) => error ? reject(error) : done())
    })
  const addStream: ArchiveWriter["addStream"] = async (name, size, content) => {
    let done: Promise<void> = Promise.resolve()
    const ended = new Promise<void>((resolve, reject) => {
      const entry = archive.entry({ name, size, mode: 0o600 }, (error) => error ? reject(error) : resolve())
      done = pipeline(content, entry)
    })
    await Promise.all([done, ended])
  }
  try {
    const written = pipeline(
      Readable.from(archive),
      createGzip({ level: 4 }),
      output
    )
    const filled = fill({ add, addStream }).then(() => archive.finalize())
    // When one side fails it destroys the other: a full disk must not leave the writer blocked by back-pressure.
    await Promise.all([
      written.catch((error: unknown) => {
        archive.destroy()
        throw error
      }),
      filled.catch((error: Error) => {
        archive.destroy(error)
        throw error
      })
    ])
    await rename(part, file)
    await flushDirectory(dirname(file))
  } finally {
    await rm(part, { force: true })
  }
}
