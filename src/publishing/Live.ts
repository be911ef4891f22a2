import { Jobs } from "#src/jobs/Jobs.ts"
import { Effect, Layer } from "effect"
import { PublicationsRepo } from "./PublicationsRepo.ts"
import { Publishing } from "./Publishing.ts"

export const PublishingLive = Layer.provide(Publishing.Default, PublicationsRepo.Default)

/** Publications that were cut off go on: at the start, and later those that another instance left. */
export const PublicationJobsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const { carryOn } = yield* Publishing
  const jobs = yield* Jobs
  yield* Effect.catchAllCause(
    carryOn,
    (cause) => Effect.logWarning("Unfinished publications could not be looked for; trying again", cause)
  )
  yield* jobs.once("Carrying on with publications", "1 minute", carryOn, { after: "1 minute" })
}))
