import { parseUrl } from "#src/format/parse-url.ts"
import { type KeptUploads } from "#src/images/upload-blob.ts"
import { isRunning } from "#src/shared/is-running.ts"
import { Effect, Either, Schema } from "effect"
import { createHash } from "node:crypto"
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** As long as the installation keeps an upload that nobody goes on with. */
const dayMs = 24 * 60 * 60_000

const Kept = Schema.parseJson(Schema.Struct({ url: Schema.String, pid: Schema.Int }))
const decode = Schema.decodeUnknownEither(Kept)

/** A lost note costs a blob that is sent again, and fails no push. */
const attempt = <A>(work: () => Promise<A>) => Effect.option(Effect.tryPromise(work))

/**
 * The uploads of a push, a small file each, so that the next command goes on with what a killed one began. What another
 * command is sending is left to that.
 *
 * @param repository the address of the repository, as the command reaches it
 */
export const keptUploads = Effect.fn("cli.keptUploads")(function*(cache: string, repository: string) {
  const folder = join(cache, "uploads")
  const own = createHash("sha256").update(repository).digest("hex").slice(0, 16)
  const fileOf = (digest: string) => join(folder, `${own}-${digest.replace(":", "-")}`)
  const origin = new URL(repository).origin

  yield* attempt(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) {
      const { mtimeMs } = await stat(join(folder, name))
      if (Date.now() - mtimeMs > dayMs) await rm(join(folder, name), { force: true })
    }
  })
  return {
    find: (digest) =>
      Effect.map(attempt(() => readFile(fileOf(digest), "utf8")), (text) => {
        const kept = text._tag === "None" ? undefined : Either.getOrUndefined(decode(text.value))
        if (kept === undefined || parseUrl(kept.url)?.origin !== origin) return undefined
        return kept.pid !== process.pid && isRunning(kept.pid) ? undefined : kept.url
      }),
    put: (digest, url) =>
      Effect.asVoid(
        attempt(() => writeFile(fileOf(digest), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 }))
      ),
    drop: (digest) => Effect.asVoid(attempt(() => rm(fileOf(digest), { force: true })))
  } satisfies KeptUploads
})
