import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, open, readdir, rename, rm, stat, truncate } from "node:fs/promises"
import { join } from "node:path"
import { type Readable } from "node:stream"
import { refused } from "./Refusal.ts"

/** Makes room for so many bytes of the upload, or fails; `ahead`: of those that may still come. */
export type Reserve = (bytes: number, ahead: boolean) => Promise<void>

/** Room is asked for in steps, so that a large upload costs few queries. */
const step = 16 * 1024 * 1024

const missing = (error: NodeJS.ErrnoException) => error.code === "ENOENT" ? undefined : Promise.reject(error)

/**
 * The bytes of uploads that have not ended: a file each, beside the store and on its disk, so that a finished one is
 * renamed into it. The file's size is how far the upload has come: it survives a kill at any point.
 */
export class UploadFiles extends Effect.Service<UploadFiles>()("uploads/UploadFiles", {
  effect: Effect.map(CurrentSettings, ({ home }) => {
    const folder = join(home, "images", "uploads")
    const path = (id: string) => join(folder, id)
    const size = (id: string) => stat(path(id)).then((found) => found.size, missing).then((found) => found ?? 0)

    const opened = async (id: string, flags: string) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return open(path(id), flags, 0o600)
    }

    /**
     * Appends what comes until its end. What came before the connection was cut stays; nothing stays of it when there is
     * no room for it, on the disk or in the plan.
     */
    const append = async (id: string, from: number, bytes: Readable, reserve: Reserve) => {
      const file = await opened(id, "a")
      let written = from
      let reserved = from
      try {
        for await (const chunk of bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          if (written + chunk.length > reserved) {
            const needed = written + chunk.length
            // Near the limit only what has come is asked for.
            reserved = await reserve(written + Math.max(step, chunk.length), true).then(
              () => written + Math.max(step, chunk.length),
              () => reserve(needed, false).then(() => needed)
            )
          }
          let done = 0
          while (done < chunk.length) done += (await file.write(chunk, done)).bytesWritten
          written += chunk.length
        }
        // Whoever is told that a chunk arrived does not send it again.
        await file.datasync()
        return written
      } catch (error) {
        if (!bytes.destroyed) await truncate(path(id), from)
        throw error
      } finally {
        await file.close()
      }
    }

    const digest = async (id: string) => {
      const hash = createHash("sha256")
      for await (const chunk of createReadStream(path(id), { highWaterMark: 1024 * 1024 })) {
        hash.update(chunk as Buffer)
      }
      return `sha256:${hash.digest("hex")}`
    }

    return {
      size,
      append,
      digest,
      /** An empty upload has a file, too, when it ends. */
      finish: async (id: string, target: string) => {
        const file = await opened(id, "a")
        await file.sync().finally(() => file.close())
        await rename(path(id), target)
      },
      remove: (id: string) => rm(path(id), { force: true }),
      list: async (): Promise<ReadonlyArray<string>> => await readdir(folder).catch(missing) ?? [],
      refusal: (given: string, actual: string) =>
        refused("DIGEST_INVALID", `The bytes have the digest ${actual}, not ${given}; nothing of them was kept`)
    } as const
  })
}) {}
