import { Jobs } from "#src/jobs/Jobs.ts"
import { Effect, Layer } from "effect"
import { PublicationsRepo } from "./PublicationsRepo.ts"
import { Publishing } from "./Publishing.ts"

export const PublishingLive = Layer.provide(Publishing.Default, PublicationsRepo.Default)

/** Resumes interrupted publications: at the start, and every minute those of an instance that ended. */
export const PublicationJobsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const { resume } = yield* Publishing
  const jobs = yield* Jobs
  yield* Effect.catchAllCause(
    resume,
    (cause) => Effect.logWarning("Unfinished publications could not be looked for; trying again", cause)
  )
  yield* jobs.once("Carrying on with publications", "1 minute", resume, { after: "1 minute" })
}))
