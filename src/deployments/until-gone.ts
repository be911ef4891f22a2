import { Effect, Option, Stream } from "effect"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { Gone } from "./StageFailed.ts"
import { Watch } from "./Watch.ts"

/**
 * Fails once a deployment was canceled, or deleted with its server, its project or its account: what it does then is for
 * nobody, and may keep others waiting. Goes on waiting while the database can't be asked.
 */
export const makeUntilGone = Effect.gen(function*() {
  const watch = yield* Watch
  const repo = yield* DeploymentsRepo
  return (id: string): Effect.Effect<never, Gone> =>
    watch.ticks(id, "3 seconds").pipe(
      Stream.mapEffect(() => Effect.catchAllCause(repo.find(id), () => Effect.succeed(undefined))),
      Stream.filter((found) => found !== undefined && (Option.isNone(found) || found.value.status === "failed")),
      Stream.runHead,
      Effect.zipRight(new Gone())
    )
})
