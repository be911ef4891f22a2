import { Either, Schema } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { extract } from "tar-stream"
import { BackupError, blobOf, Contents, format, Head, imageOf, names, tableOf } from "./format.ts"

type Chunks = AsyncIterable<Uint8Array>

/** Maximum size of a backup's documents, which are much smaller in practice. */
const mostBytes = 64 * 1024 ** 2

const damaged = (file: string, why: string) => new BackupError({ message: `${file} is damaged or cut off: ${why}` })

const unreadable = (file: string, error: unknown) => {
  if (error instanceof BackupError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "ENOENT") return new BackupError({ message: `There is no ${file}` })
  if (code === "EACCES" || code === "EISDIR") return new BackupError({ message: `${file} can't be read: ${message}` })
  return damaged(file, message)
}

async function* bytesOf(entry: AsyncIterable<unknown>): Chunks {
  for await (const chunk of entry) if (chunk instanceof Uint8Array) yield chunk
}

/** Calls `visit` for each entry in order; skips what `visit` doesn't read. */
const eachEntry = async (file: string, visit: (name: string, chunks: Chunks) => Promise<void>) => {
  const entries = extract()
  const read = pipeline(createReadStream(file), createGunzip(), entries)
  // Prevents an unhandled rejection; the error is thrown below.
  read.catch(() => undefined)
  try {
    for await (const entry of entries) {
      await visit(entry.header.name, bytesOf(entry))
      entry.resume()
    }
    await read
  } finally {
    entries.destroy()
  }
}

const wholeOf = async (chunks: Chunks) => {
  const parts: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > mostBytes) throw new Error("a document in it is too large")
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}
const textOf = async (chunks: Chunks) => (await wholeOf(chunks)).toString("utf8")

const decoded = <A>(file: string, schema: Schema.Schema<A, string>, text: string) =>
  Either.getOrThrowWith(
    Schema.decodeEither(schema)(text),
    () => damaged(file, "one of its documents is not valid")
  )

const readHead = (file: string, name: string, text: string) => {
  if (name !== names.head) throw new BackupError({ message: `${file} is not a backup of berth` })
  const { format: actual } = decoded(file, Schema.parseJson(Schema.Struct({ format: Schema.Int })), text)
  if (actual > format) {
    throw new BackupError({
      message: `${file} has a newer format (${actual}) than this version of berth reads (${format})`
    })
  }
  return decoded(file, Head, text)
}

/** The head and contents of a backup whose bytes all match the checksums at its end. */
export interface Checked {
  readonly head: Head
  readonly contents: Contents
}

export const checkArchive = async (file: string): Promise<Checked> => {
  let head: Head | undefined
  let contents: Contents | undefined
  const hashes = new Map<string, { readonly hash: ReturnType<typeof createHash>; bytes: number }>()
  const addToSum = async (key: string, chunks: Chunks) => {
    const sum = hashes.get(key) ?? { hash: createHash("sha256"), bytes: 0 }
    hashes.set(key, sum)
    for await (const chunk of chunks) {
      sum.hash.update(chunk)
      sum.bytes += chunk.length
    }
  }
  try {
    await eachEntry(file, async (name, chunks) => {
      if (contents !== undefined) throw new Error("something follows its end")
      const key = tableOf(name) ?? imageOf(name) ?? blobOf(name)
      if (head === undefined) head = readHead(file, name, await textOf(chunks))
      else if (name === names.contents) contents = decoded(file, Contents, await textOf(chunks))
      else if (key !== undefined) await addToSum(key, chunks)
      else if (name !== names.imageIndex) throw new Error(`${JSON.stringify(name)} is not known`)
    })
    if (head === undefined || contents === undefined) throw new Error("its end is missing")
    const empty = createHash("sha256").digest("hex")
    const sums = new Map([...hashes].map(([key, { bytes, hash }]) => [key, { bytes, sha256: hash.digest("hex") }]))
    for (const [name, { bytes, sha256 }] of Object.entries(contents.tables)) {
      const actual = sums.get(name) ?? { bytes: 0, sha256: empty }
      if (actual.bytes !== bytes || actual.sha256 !== sha256) {
        throw new Error(`the rows of ${name} don't match their checksum`)
      }
      sums.delete(name)
    }
    for (const [digest, bytes] of Object.entries(contents.images)) {
      const actual = sums.get(digest)
      if (actual?.bytes !== bytes || `sha256:${actual.sha256}` !== digest) {
        throw new Error(`the image ${digest} doesn't match its checksum`)
      }
      sums.delete(digest)
    }
    for (const [key, { bytes, sha256 }] of Object.entries(contents.blobs)) {
      const actual = sums.get(key)
      if (actual?.bytes !== bytes || actual.sha256 !== sha256) {
        throw new Error(`the file ${key} doesn't match its checksum`)
      }
      sums.delete(key)
    }
    const [stray] = sums.keys()
    if (stray !== undefined) throw new Error(`${stray} is not in its list`)
    return { head, contents }
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Reads a checked backup a second time; the rows of a table come in consecutive parts. */
export const readArchive = async (
  file: string,
  visit: {
    readonly part?: (table: string, chunks: Chunks) => Promise<void>
    readonly image?: (digest: string, chunks: Chunks) => Promise<void>
    readonly imageIndex?: (text: string) => Promise<void>
    readonly blob?: (key: string, bytes: Uint8Array) => Promise<void>
  }
) => {
  try {
    await eachEntry(file, async (name, chunks) => {
      const table = tableOf(name)
      const digest = imageOf(name)
      if (table !== undefined) return visit.part?.(table, chunks)
      if (digest !== undefined) return visit.image?.(digest, chunks)
      const key = blobOf(name)
      if (key !== undefined && visit.blob !== undefined) return visit.blob(key, await wholeOf(chunks))
      if (name === names.imageIndex && visit.imageIndex !== undefined) return visit.imageIndex(await textOf(chunks))
    })
  } catch (error) {
    throw error instanceof Error && "code" in error && isOfFile(error.code) ? unreadable(file, error) : error
  }
}

/** Whether an error is from reading the file, and not from a callback. */
const isOfFile = (code: unknown) => typeof code === "string" && /^(Z_|ENOENT|EACCES|EISDIR|EIO)/.test(code)
