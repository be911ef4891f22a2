import { Effect, Schedule } from "effect"
import { Readable } from "node:stream"
import { type Holder } from "./HeldBlobs.ts"
import { type ImageError } from "./ImageError.ts"
import { blobsOf, readManifest } from "./inspect.ts"
import type { Limits } from "./limits.ts"
import { type Descriptor } from "./manifest.ts"
import { type makePins } from "./pins.ts"
import { isTransient } from "./registry-calls.ts"
import type { Source } from "./Source.ts"
import type { Store } from "./Store.ts"

/** Progress of a pull: bytes that were already stored count as done. */
export interface MirrorProgress {
  readonly bytes: number
  readonly totalBytes: number
}

export type OnProgress = (progress: MirrorProgress) => Effect.Effect<void>

interface Pulled {
  readonly digest: string
  readonly mediaType: string
  readonly totalSize: number
}

const pullsAtOnce = 3
const retries = Schedule.exponential("500 millis").pipe(Schedule.intersect(Schedule.recurs(2)))

/** Copies an image from its source into the store, and verifies every byte. */
export const puller = (store: Store, limits: Limits, pins: ReturnType<typeof makePins>) => {
  /** Fetches what the holder has not received yet, also when the store has it from somebody else. */
  const fetch = (
    source: Source,
    blob: Descriptor,
    holder: Holder | undefined,
    onBytes: (count: number) => void
  ): Effect.Effect<void, ImageError> =>
    Effect.gen(function*() {
      if (holder === undefined || (yield* holder.holds(blob.digest))) {
        return yield* store.put(blob, source.blob(blob), onBytes)
      }
      yield* store.receive(blob, source.blob(blob), onBytes)
      yield* holder.received(blob.digest)
    })

  return Effect.fnUntraced(function*(
    source: Source,
    pulled: Pulled,
    onProgress: OnProgress,
    holder: Holder | undefined
  ) {
    const document = yield* source.manifest(pulled.digest)
    const image = yield* readManifest({ ...document, mediaType: pulled.mediaType }, limits)
    const blobs = blobsOf(image)
    yield* pins.pin(blobs.map(({ digest }) => digest))
    const done = new Map<string, number>()
    const report = Effect.suspend(() =>
      onProgress({ bytes: [...done.values()].reduce((sum, n) => sum + n, 0), totalBytes: pulled.totalSize })
    )
    yield* Effect.forkScoped(Effect.schedule(report, Schedule.spaced("1 second")))
    yield* Effect.forEach(blobs, (blob) =>
      Effect.suspend(() => {
        done.set(blob.digest, 0)
        return fetch(source, blob, holder, (count) => done.set(blob.digest, (done.get(blob.digest) ?? 0) + count))
      }).pipe(
        Effect.retry({ schedule: retries, while: isTransient }),
        Effect.tap(() => done.set(blob.digest, blob.size))
      ), { concurrency: pullsAtOnce, discard: true })
    yield* report
    // The manifest comes last: if it is stored, the rest is too.
    yield* store.put(
      { digest: image.digest, size: image.bytes.length },
      Effect.sync(() => Readable.from([image.bytes]))
    )
    return image
  })
}
