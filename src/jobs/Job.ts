import { Schema } from "effect"

/** A job as it is recorded. Times by the clock of the process that ran it. */
export const JobRecord = Schema.Struct({
  name: Schema.String,
  /** The host's id; empty for a job that runs once across all hosts. */
  host: Schema.String,
  /** Null for one that runs when it is asked to. */
  intervalMillis: Schema.NullOr(Schema.Int),
  /** When its last run began. */
  lastRunAt: Schema.NullOr(Schema.DateFromSelf),
  tookMillis: Schema.NullOr(Schema.Int),
  /** When its last run that failed began; the last of all failed when that is `lastRunAt`. */
  failedAt: Schema.NullOr(Schema.DateFromSelf),
  failure: Schema.NullOr(Schema.String)
})
export type JobRecord = typeof JobRecord.Type

/** What a job is, before it has run. */
export type Job = Pick<JobRecord, "name" | "host" | "intervalMillis">
