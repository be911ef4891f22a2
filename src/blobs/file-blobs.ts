import { Effect, Option } from "effect"
import { randomBytes } from "node:crypto"
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type BlobStore, isBlobKey } from "./BlobStore.ts"
import { storing } from "./storing.ts"

const missing = (error: NodeJS.ErrnoException) => error.code === "ENOENT" ? undefined : Promise.reject(error)

/** No write takes so long. */
const abandonedMillis = 3_600_000

const removeAbandoned = async (path: string) => {
  const found = await stat(path).catch(missing)
  if (found !== undefined && found.mtimeMs < Date.now() - abandonedMillis) await rm(path, { force: true })
}

const flushFolder = async (path: string) => {
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}

/** A file appears by rename after every byte was synced: a crash never leaves a part of one at its key. */
const write = async (path: string, bytes: Uint8Array) => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // No key begins with a dot.
  const part = join(folder, `.${randomBytes(8).toString("hex")}.part`)
  try {
    const file = await open(part, "wx", 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
    await flushFolder(folder)
  } finally {
    await rm(part, { force: true })
  }
}

/** The store in a folder of the home. */
export const fileBlobs = (root: string): typeof BlobStore.Service => {
  const path = (key: string) => {
    if (!isBlobKey(key)) throw new Error(`${JSON.stringify(key)} is not a key`)
    return join(root, key)
  }
  const namesIn = async (folder: string) => await readdir(folder, { withFileTypes: true }).catch(missing) ?? []
  const folders = async () => (await namesIn(root)).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return {
    put: (key, bytes) => storing("write a file", () => write(path(key), bytes)),
    get: (key) => Effect.map(storing("read a file", () => readFile(path(key)).catch(missing)), Option.fromNullable),
    remove: (key) => storing("remove a file", () => rm(path(key), { force: true })),
    list: storing("list files", async () => {
      const keys = await Promise.all(
        (await folders()).map(async (folder) =>
          (await namesIn(join(root, folder))).filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`)
        )
      )
      return keys.flat().filter(isBlobKey).sort()
    }),
    tidy: storing("remove what a crash left", async () => {
      for (const folder of await folders()) {
        const parts = (await namesIn(join(root, folder))).filter(({ name }) => /^\..*\.part$/.test(name))
        for (const { name } of parts) await removeAbandoned(join(root, folder, name))
      }
    }),
    // The home has been checked by then (src/config/home.ts).
    check: Effect.void
  }
}
