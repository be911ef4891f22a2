import { Effect } from "effect"
import { JobsRepo } from "./JobsRepo.ts"

/** How all jobs of an installation fare, of every host. */
export class JobList extends Effect.Service<JobList>()("jobs/JobList", {
  effect: Effect.map(JobsRepo, ({ all }) => ({ all }))
}) {}
