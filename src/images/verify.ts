import { GuardedHttpError } from "#src/shared/GuardedHttp.ts"
import { createHash } from "node:crypto"
import { Transform } from "node:stream"
import { fromGuard, ImageError, imageError, storageError } from "./ImageError.ts"

/** What a blob's descriptor promises. */
export interface Wanted {
  readonly digest: string
  readonly size: number
}

/** Passes bytes on while they keep the promise of size and digest; the last one is held to it too. */
export const verifying = (wanted: Wanted, onBytes: (count: number) => void = () => {}): Transform => {
  const hash = createHash("sha256")
  let size = 0
  const broken = (what: string) => imageError("digest_mismatch", `Blob ${wanted.digest} ${what}`)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > wanted.size) return done(broken(`has more than the ${wanted.size} bytes it was announced with`))
      hash.update(chunk)
      onBytes(chunk.length)
      done(null, chunk)
    },
    flush(done) {
      if (size < wanted.size) return done(broken(`was cut short: ${size} of ${wanted.size} bytes`))
      const actual = `sha256:${hash.digest("hex")}`
      done(actual === wanted.digest ? null : broken(`has the digest ${actual}`))
    }
  })
}

/** Why reading or writing a blob's bytes failed. */
export const brokenStream = (cause: unknown): ImageError => {
  if (cause instanceof ImageError) return cause
  if (cause instanceof GuardedHttpError) return fromGuard(cause)
  // File errors name their system call's path; what has none comes from the network.
  return cause instanceof Error && "path" in cause
    ? storageError("Storing an image")(cause)
    : imageError("unreachable", `The connection broke while an image was pulled: ${String(cause)}`)
}
