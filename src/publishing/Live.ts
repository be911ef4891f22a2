import { Effect, Layer, Schedule } from "effect"
import { PublicationsRepo } from "./PublicationsRepo.ts"
import { Publishing } from "./Publishing.ts"

export const PublishingLive = Layer.provide(Publishing.Default, PublicationsRepo.Default)

/** Publications that were cut off go on: at the start, and later those that another instance left. */
export const PublicationJobsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const { carryOn } = yield* Publishing
  const attempt = Effect.catchAllCause(
    carryOn,
    (cause) => Effect.logWarning("Unfinished publications could not be looked for; trying again", cause)
  )
  yield* attempt
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(attempt, "1 minute"), Schedule.spaced("1 minute")))
}))
