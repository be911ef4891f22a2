import { Schema } from "effect"

/** A row of jobs. Times are by the clock of the process that ran the job. */
export const JobRecord = Schema.Struct({
  name: Schema.String,
  /** The host's id; empty for a job that runs on one host of all. */
  host: Schema.String,
  /** Null for a job that runs on request. */
  intervalMillis: Schema.NullOr(Schema.Int),
  /** When its last run began. */
  lastRunAt: Schema.NullOr(Schema.DateFromSelf),
  tookMillis: Schema.NullOr(Schema.Int),
  /** When its last failed run began. Equal to `lastRunAt` when the last run failed. */
  failedAt: Schema.NullOr(Schema.DateFromSelf),
  failure: Schema.NullOr(Schema.String)
})
export type JobRecord = typeof JobRecord.Type

/** A job before it has run. */
export type Job = Pick<JobRecord, "name" | "host" | "intervalMillis">
