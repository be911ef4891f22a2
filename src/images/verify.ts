import { GuardedHttpError } from "#src/shared/GuardedHttp.ts"
import { createHash } from "node:crypto"
import { Transform } from "node:stream"
import { fromGuard, ImageError, imageError, storageError } from "./ImageError.ts"

/** The digest and size of a blob's descriptor. */
export interface ExpectedBlob {
  readonly digest: string
  readonly size: number
}

/** Passes bytes on while their size matches the descriptor; fails at the end when size or digest differ. */
export const verifying = (expected: ExpectedBlob, onBytes: (count: number) => void = () => {}): Transform => {
  const hash = createHash("sha256")
  let size = 0
  const mismatch = (what: string) => imageError("digest_mismatch", `Blob ${expected.digest} ${what}`)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > expected.size) return done(mismatch(`has more than the ${expected.size} bytes it was announced with`))
      hash.update(chunk)
      onBytes(chunk.length)
      done(null, chunk)
    },
    flush(done) {
      if (size < expected.size) return done(mismatch(`was cut short: ${size} of ${expected.size} bytes`))
      const actual = `sha256:${hash.digest("hex")}`
      done(actual === expected.digest ? null : mismatch(`has the digest ${actual}`))
    }
  })
}

/** Why reading or writing a blob's bytes failed. */
export const brokenStream = (cause: unknown): ImageError => {
  if (cause instanceof ImageError) return cause
  if (cause instanceof GuardedHttpError) return fromGuard(cause)
  // Errors of file system calls have a path; others come from the network.
  return cause instanceof Error && "path" in cause
    ? storageError("Storing an image")(cause)
    : imageError("unreachable", `The connection broke while an image was pulled: ${String(cause)}`)
}
