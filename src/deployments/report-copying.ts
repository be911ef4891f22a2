import { type MirrorProgress } from "#src/images/pull.ts"
import { megabytes } from "#src/shared/bytes.ts"
import { Clock, Effect } from "effect"

/** Logs at most every ten seconds, to show that a large image on a slow line makes progress. */
export const reportCopying = Effect.fnUntraced(function*(log: (message: string) => Effect.Effect<void>) {
  let last = yield* Clock.currentTimeMillis
  return ({ bytes, totalBytes }: MirrorProgress) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - last < 10_000) return Effect.void
      last = now
      return log(`copied ${megabytes(bytes)} of ${megabytes(totalBytes)}`)
    })
})
