import { Effect, Either } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { open, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { decodeDocument, Index } from "./manifest.ts"
import { makeStore } from "./Store.ts"

const storeIn = (home: string) => makeStore(join(home, "images"))
const decodeIndex = decodeDocument(Index, "The index of images")

const missing = (error: NodeJS.ErrnoException) => error.code === "ENOENT" ? undefined : Promise.reject(error)

const digestOfFile = async (path: string) => {
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return `sha256:${hash.digest("hex")}`
}

/**
 * All complete blobs of a home's image store. Leaves out damaged ones, and those removed before they were opened; an
 * open one can still be read.
 */
export async function* storedBlobs(home: string) {
  const store = storeIn(home)
  for (const name of await readdir(store.blobs).then((names) => names, missing) ?? []) {
    const digest = `sha256:${name}`
    const path = store.path(digest)
    if (!/^[0-9a-f]{64}$/.test(name) || await digestOfFile(path).catch(missing) !== digest) continue
    const file = await open(path).catch(missing)
    if (file === undefined) continue
    const { size } = await file.stat()
    yield { digest, size, bytes: file.createReadStream() }
  }
}

/** The index of those images for other tools; undefined when there is none. */
export const storedIndex = (home: string) => readFile(join(home, "images", "index.json"), "utf8").catch(missing)

/** Writes blobs, each verified, and their index into a home's image store. */
export const storeWriter = (home: string) => {
  const store = storeIn(home)
  return {
    prepare: () => Effect.runPromise(store.prepare),
    blob: (digest: string, size: number, bytes: AsyncIterable<Uint8Array>) =>
      Effect.runPromise(store.put({ digest, size }, Effect.sync(() => Readable.from(bytes)))),
    index: (text: string) => {
      const listed = Either.match(decodeIndex(Buffer.from(text)), {
        onLeft: () => [],
        onRight: ({ manifests }) => manifests
      })
      const digests = new Set(listed.map(({ digest }) => digest))
      return Effect.runPromise(
        store.updateIndex((manifests) => [...manifests.filter(({ digest }) => !digests.has(digest)), ...listed])
      )
    }
  }
}
