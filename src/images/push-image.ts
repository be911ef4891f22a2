import { Effect } from "effect"
import { type Readable } from "node:stream"
import { imageError } from "./ImageError.ts"
import { type Descriptor } from "./manifest.ts"
import { isTransient, type RegistryCalls } from "./registry-calls.ts"
import { refusalOf } from "./registry-refusal.ts"
import { type Readables, uploadBlob, type UploadOptions } from "./upload-blob.ts"

/** An image to send, from whatever has its bytes. */
export interface Sendable {
  readonly digest: string
  readonly mediaType: string
  readonly manifest: Buffer
  /** Config and layers, each once. */
  readonly blobs: ReadonlyArray<Descriptor>
  readonly open: (digest: string, start: number, end: number) => Readable
}

/** What a push has done: bytes that the registry had already, and those that were sent. */
export interface Pushed {
  readonly present: number
  readonly sent: number
}

export interface PushOptions extends Omit<UploadOptions, "isRefused" | "onBytes" | "onPresent"> {
  readonly documentMs: number
  /** The name under which the manifest is put besides its digest. */
  readonly tag?: string | undefined
  readonly onProgress?: (done: Pushed) => void
}

const uploadsAtOnce = 3

/** Whether the repository has what is at this path. */
const has = (calls: RegistryCalls, path: string, accept: string, what: string, totalMs: number) =>
  Effect.scoped(Effect.gen(function*() {
    const { status } = yield* calls.call({ url: calls.at(path), method: "HEAD", headers: { accept }, totalMs }, what)
    if (status === 200) return true
    return status === 404 ? false : yield* refusalOf(calls.registry, status, "", what)
  }))

export const hasManifest = (calls: RegistryCalls, { digest, mediaType }: Sendable, documentMs: number) =>
  has(calls, `manifests/${digest}`, mediaType, `the image ${digest}`, documentMs)

/**
 * Pushes an image (OCI distribution specification, "Push"): only blobs that the repository lacks travel, and the
 * manifest comes last, so that an image which is there is there as a whole.
 */
export const pushImage = Effect.fn("images.push")(function*(
  calls: RegistryCalls,
  image: Sendable,
  { documentMs, onProgress = () => {}, tag, ...upload }: PushOptions
) {
  const what = `the image ${image.digest}`
  let [present, sent] = [0, 0]
  let isRefused = false
  const tell = () => onProgress({ present, sent })

  const send = Effect.fnUntraced(
    function*(descriptor: Descriptor) {
      const { digest, size } = descriptor
      if (yield* has(calls, `blobs/${digest}`, "*/*", `blob ${digest}`, documentMs)) {
        present += size
        // A push that broke off just when this one had ended may have left its note.
        yield* upload.kept?.drop(digest) ?? Effect.void
        return tell()
      }
      const blob: Readables = { digest, size, open: (start, end) => image.open(digest, start, end) }
      yield* uploadBlob(calls, blob, {
        ...upload,
        isRefused: () => isRefused,
        onPresent: (count) => {
          present += count
          tell()
        },
        onBytes: (count) => {
          sent += count
          tell()
        }
      })
    },
    Effect.tapError((error) =>
      Effect.sync(() => {
        isRefused ||= !isTransient(error)
      })
    )
  )
  yield* Effect.forEach(image.blobs, send, { concurrency: uploadsAtOnce, discard: true })

  yield* Effect.scoped(Effect.gen(function*() {
    const { headers, status, ...answer } = yield* calls.call({
      url: calls.at(`manifests/${tag ?? image.digest}`),
      method: "PUT",
      headers: { "content-type": image.mediaType },
      body: image.manifest,
      totalMs: documentMs
    }, what)
    if (status !== 201) {
      return yield* refusalOf(
        calls.registry,
        status,
        (yield* calls.readAll({ headers, status, ...answer })).toString("utf8"),
        what
      )
    }
    const stored = headers["docker-content-digest"]
    if (typeof stored === "string" && stored !== image.digest) {
      return yield* imageError("digest_mismatch", `${calls.registry} stored ${what} under ${stored}`)
    }
  }))
  return { present, sent } satisfies Pushed
})

/** Deletes an image by its digest; answers whether the registry allows that. */
export const deleteManifest = (calls: RegistryCalls, digest: string, totalMs: number) =>
  Effect.scoped(Effect.gen(function*() {
    const what = `the image ${digest}`
    const answer = yield* calls.call({ url: calls.at(`manifests/${digest}`), method: "DELETE", totalMs }, what)
    const { status } = answer
    if (status === 202 || status === 200 || status === 204 || status === 404) return true
    const text = (yield* calls.readAll(answer)).toString("utf8")
    return status === 405 || /UNSUPPORTED/.test(text)
      ? false
      : yield* refusalOf(calls.registry, status, text, what)
  }))
