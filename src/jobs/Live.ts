import { Layer } from "effect"
import { JobList } from "./JobList.ts"
import { Jobs } from "./Jobs.ts"
import { JobsRepo } from "./JobsRepo.ts"

export const JobsLive = Layer.provide(Jobs.Default, JobsRepo.Default)

/** Needs only the database: for the operator's commands. */
export const JobListLive = Layer.provide(JobList.Default, JobsRepo.Default)
