import { Layer } from "effect"
import { JobList } from "./JobList.ts"
import { Jobs } from "./Jobs.ts"
import { JobsRepo } from "./JobsRepo.ts"

export const JobsLive = Layer.provide(Jobs.Default, JobsRepo.Default)

/** Needs the database alone: for commands of the operator. */
export const JobListLive = Layer.provide(JobList.Default, JobsRepo.Default)
