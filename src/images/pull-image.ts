import { Effect, Schedule } from "effect"
import { Readable } from "node:stream"
import { blobsOf, readManifest } from "./inspect.ts"
import type { Limits } from "./limits.ts"
import type { makePins } from "./pins.ts"
import { isTransient } from "./registry-calls.ts"
import type { OnProgress, ResolvedImage } from "./ResolvedImage.ts"
import type { Source } from "./Source.ts"
import type { Store } from "./Store.ts"

interface Into {
  readonly store: Store
  readonly pins: ReturnType<typeof makePins>
  readonly limits: Limits
}

const pullsAtOnce = 3
const retries = Schedule.exponential("500 millis").pipe(Schedule.intersect(Schedule.recurs(2)))

/** Copies an image's blobs and its manifest into the store; those that are there are not read again. */
export const pullImage = Effect.fnUntraced(function*(
  { limits, pins, store }: Into,
  source: Source,
  resolved: ResolvedImage,
  onProgress: OnProgress
) {
  const document = yield* source.manifest(resolved.digest)
  const image = yield* readManifest({ ...document, mediaType: resolved.mediaType }, limits)
  const blobs = blobsOf(image)
  yield* pins.pin(blobs.map(({ digest }) => digest))
  const done = new Map<string, number>()
  const report = Effect.suspend(() =>
    onProgress({ bytes: [...done.values()].reduce((sum, n) => sum + n, 0), totalBytes: resolved.totalSize })
  )
  yield* Effect.forkScoped(Effect.schedule(report, Schedule.spaced("1 second")))
  yield* Effect.forEach(blobs, (blob) =>
    Effect.suspend(() => {
      done.set(blob.digest, 0)
      return store.put(blob, source.blob(blob), (count) => done.set(blob.digest, (done.get(blob.digest) ?? 0) + count))
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
