import { Effect } from "effect"
import { type Readable, Transform } from "node:stream"
import { type ImageError, imageError } from "./ImageError.ts"
import { isTransient, type RegistryCalls } from "./registry-calls.ts"
import { refusalOf } from "./registry-refusal.ts"
import { type ExpectedBlob } from "./verify.ts"

/** A blob that can be read from any byte on, up to another one. */
export interface Readables extends ExpectedBlob {
  readonly open: (start: number, end: number) => Readable
}

export interface UploadOptions {
  /** A repository of the same registry that has the blob already. */
  readonly mountFrom?: string | undefined
  /** Whether to ask for a mount without naming where from: a registry may find the blob itself. */
  readonly mountAnywhere?: boolean
  /** Where uploads are remembered that an earlier push began. */
  readonly kept?: KeptUploads | undefined
  /** The most that one request carries: what a proxy in front takes. */
  readonly chunkBytes?: number
  /** Milliseconds before the second try; each pause is twice the one before. */
  readonly pauseMs: number
  readonly blobMs: number
  /** How many more bytes have been sent; negative when the registry has fewer than it was sent. */
  readonly onBytes?: (count: number) => void
  /** How many bytes the registry had: of a mounted blob, or of an upload that an earlier push began. */
  readonly onPresent?: (count: number) => void
  /** Whether an upload that is interrupted now is of a push that was refused, and not one to go on with. */
  readonly isRefused?: () => boolean
}

/** The addresses of uploads that have not ended, by their blob's digest. */
export interface KeptUploads {
  readonly find: (digest: string) => Effect.Effect<string | undefined>
  readonly put: (digest: string, url: string) => Effect.Effect<void>
  readonly drop: (digest: string) => Effect.Effect<void>
}

/** Where an upload goes on, and how many bytes the registry has. */
interface Session {
  readonly url: string
  readonly offset: number
}

/** Tries in a row after which the registry has no more than before. */
const mostTries = 5

/** The registry may take long over the end of a large blob: it reads it all again. */
const silence = 120_000

/** Nobody waits long for the end of what has failed. */
const cancelMs = 5_000

const counted = (source: Readable, onBytes: (count: number) => void) =>
  source.pipe(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        onBytes(chunk.length)
        done(null, chunk)
      }
    })
  ).on("close", () => source.destroy())

/** `0-99` of a Range header: 100 bytes. Some registries write `0-0` for none. */
const sizeOf = (range: unknown) => {
  const last = Number(/^(?:bytes=)?0-(\d+)$/.exec(typeof range === "string" ? range : "")?.[1] ?? 0)
  return last === 0 ? 0 : last + 1
}

/**
 * Sends a blob that the registry does not have: mounted from another repository where that works, else uploaded. A try
 * that breaks off asks how much has arrived and sends the rest; where the registry can't tell, all of it again.
 */
export const uploadBlob = Effect.fn("images.uploadBlob")(function*(
  { at, call, readAll, registry }: RegistryCalls,
  blob: Readables,
  {
    blobMs,
    chunkBytes = Infinity,
    isRefused = () => false,
    kept,
    mountAnywhere = false,
    mountFrom,
    onBytes = () => {},
    onPresent = () => {},
    pauseMs
  }: UploadOptions
) {
  const what = `blob ${blob.digest}`
  const earlier = yield* kept?.find(blob.digest) ?? Effect.succeed(undefined)
  let session: Session | undefined = earlier === undefined ? undefined : { url: earlier, offset: 0 }
  let isEarlier = session !== undefined
  let told = 0
  let most = 0

  const tell = (offset: number) => {
    onBytes(offset - told)
    told = offset
  }

  const locationOf = (headers: Readonly<Record<string, unknown>>, base: string) =>
    typeof headers["location"] === "string"
      ? Effect.succeed(new URL(headers["location"], base).href)
      : imageError("unreachable", `${registry} did not say where ${what} goes`)

  const request = (request: Parameters<typeof call>[0]) =>
    Effect.scoped(Effect.gen(function*() {
      const answer = yield* call({ idleMs: silence, ...request }, what)
      return { ...answer, text: answer.status < 300 ? "" : (yield* readAll(answer)).toString("utf8") }
    }))

  const begin = Effect.gen(function*() {
    const mount = mountFrom !== undefined || mountAnywhere ? `?mount=${encodeURIComponent(blob.digest)}` : ""
    const query = mountFrom === undefined ? mount : `${mount}&from=${encodeURIComponent(mountFrom)}`
    const url = at(`blobs/uploads/${query}`)
    const { headers, status, text } = yield* request({ url, method: "POST" })
    if (status === 201) return "mounted" as const
    if (status !== 202) return yield* refusalOf(registry, status, text, what)
    session = { url: yield* locationOf(headers, url), offset: 0 }
    yield* kept?.put(blob.digest, session.url) ?? Effect.void
    return session
  })

  /** What has arrived of an upload that broke off; undefined when the registry does not know. */
  const resumed = ({ url }: Session) =>
    Effect.gen(function*() {
      const { headers, status } = yield* request({ url })
      const offset = status === 204 || status === 202 ? sizeOf(headers["range"]) : 0
      if (offset === 0 || offset > blob.size) return undefined
      const location = headers.location === undefined ? url : yield* locationOf(headers, url)
      return { url: location, offset } satisfies Session
    })

  const sendOn = Effect.fnUntraced(function*({ offset, url }: Session) {
    const end = Math.min(offset + chunkBytes, blob.size)
    const whole = offset === 0 && end === blob.size
    const { headers, status, text } = yield* request({
      url,
      method: "PATCH",
      headers: {
        "content-type": "application/octet-stream",
        ...whole ? {} : { "content-range": `${offset}-${end - 1}` }
      },
      body: {
        size: end - offset,
        open: () => {
          tell(offset)
          return counted(blob.open(offset, end), (count) => {
            told += count
            onBytes(count)
          })
        }
      },
      totalMs: blobMs
    })
    // What the registry has forgotten, or has more or less of than we think, is asked for again.
    if (status === 404 || status === 416) {
      if (status === 404) session = undefined
      return yield* imageError("unreachable", `${registry} answered ${status} for ${what}`)
    }
    if (status !== 202) return yield* refusalOf(registry, status, text, what)
    most = Math.max(most, end)
    session = { url: yield* locationOf(headers, url), offset: end }
    if (session.url !== url) yield* kept?.put(blob.digest, session.url) ?? Effect.void
    return session
  })

  const finish = Effect.fnUntraced(function*({ url }: Session, wasResumed: boolean) {
    const place = new URL(url)
    place.searchParams.set("digest", blob.digest)
    const { status, text } = yield* request({
      url: place.href,
      method: "PUT",
      headers: { "content-length": "0" },
      totalMs: blobMs
    })
    if (status === 201) return
    session = undefined
    return yield* wasResumed && status >= 400 && status < 500
      ? imageError("unreachable", `${registry} answered ${status} for ${what}`)
      : refusalOf(registry, status, text, what)
  })

  const attempt = Effect.gen(function*() {
    const before = session
    const known = before === undefined ? undefined : yield* resumed(before)
    if (known !== undefined) most = Math.max(most, known.offset)
    if (isEarlier && known !== undefined) {
      told = known.offset
      onPresent(known.offset)
    }
    isEarlier = false
    const begun = known ?? (yield* begin)
    if (begun === "mounted") {
      tell(0)
      return onPresent(blob.size)
    }
    let current: Session = begun
    while (current.offset < blob.size) current = yield* sendOn(current)
    yield* finish(current, known !== undefined)
  })

  const attempts: Effect.Effect<void, ImageError> = Effect.gen(function*() {
    let tries = 0
    let reached = 0
    while (true) {
      const failure = yield* Effect.flip(Effect.asVoid(attempt)).pipe(Effect.option)
      if (failure._tag === "None") return
      tries = most > reached ? 1 : tries + 1
      reached = most
      if (!isTransient(failure.value) || tries >= mostTries) return yield* failure.value
      yield* Effect.sleep(pauseMs * 2 ** (tries - 1))
    }
  })
  /** What the registry refuses is not gone on with: it would take room there until it is forgotten. */
  const cancel = Effect.gen(function*() {
    if (session !== undefined) {
      yield* Effect.ignore(request({ url: session.url, method: "DELETE", totalMs: cancelMs }))
    }
    yield* kept?.drop(blob.digest) ?? Effect.void
  })
  yield* attempts.pipe(
    Effect.tapError((error) => isTransient(error) ? Effect.void : cancel),
    Effect.onInterrupt(() => isRefused() ? cancel : Effect.void),
    Effect.zipLeft(kept?.drop(blob.digest) ?? Effect.void)
  )
})
