import { Effect } from "effect"
import { JobsRepo } from "./JobsRepo.ts"

/** The state of all jobs of an installation, on every host. */
export class JobList extends Effect.Service<JobList>()("jobs/JobList", {
  effect: Effect.map(JobsRepo, ({ all }) => ({ all }))
}) {}
