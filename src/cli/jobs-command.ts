import { type JobRecord } from "#src/jobs/Job.ts"
import { JobList } from "#src/jobs/JobList.ts"
import { JobListLive } from "#src/jobs/Live.ts"
import { Command } from "@effect/cli"
import { Duration, Effect } from "effect"
import { orSay } from "./fail.ts"
import { json, show } from "./json-output.ts"
import { listing, printable } from "./mcp/render.ts"
import { onDatabase } from "./on-database.ts"

const time = (at: Date) => `${at.toISOString().slice(0, 19)}Z`

const failureOf = ({ failedAt, failure, lastRunAt }: JobRecord) => {
  if (failedAt === null) return "-"
  const when = failedAt.getTime() === lastRunAt?.getTime() ? "the last run" : time(failedAt)
  return `${when}: ${printable(failure ?? "")}`
}

const row = (job: JobRecord) => [
  job.name,
  job.host === "" ? "any" : job.host,
  job.intervalMillis === null ? "when asked" : Duration.format(job.intervalMillis),
  job.lastRunAt === null ? "never" : time(job.lastRunAt),
  job.tookMillis === null ? "-" : `${job.tookMillis} ms`,
  failureOf(job)
]

/** A table for people, one job per line. */
export const jobTable = (jobs: ReadonlyArray<JobRecord>) =>
  jobs.length === 0
    ? "No job has run yet"
    : listing(["JOB", "HOST", "EVERY", "LAST RUN", "TOOK", "LAST FAILURE"], jobs.map(row))

export const jobsCommand = Command.make("jobs", { json }, ({ json }) =>
  Effect.gen(function*() {
    const jobs = yield* (yield* JobList).all
    yield* show(json, jobs, () => jobTable(jobs))
  }).pipe(Effect.provide(onDatabase(JobListLive)), orSay)).pipe(
    Command.withDescription("List the periodic jobs: when each ran last, how long it took, and how it failed")
  )
