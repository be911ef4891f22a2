import { messageOf } from "#src/shared/message-of.ts"
import { outageIn } from "#src/shared/outage.ts"
import { quotable } from "#src/shared/outside-text.ts"
import { redact } from "#src/shared/redact.ts"
import { Cause, Clock, Effect, Schedule } from "effect"
import { type Job, type JobRecord } from "./Job.ts"
import { type JobsRepo } from "./JobsRepo.ts"

/** A completed run. */
export interface Run {
  readonly beganAt: Date
  readonly tookMillis: number
  /** Undefined when it succeeded. */
  readonly failure: string | undefined
}

interface Entry {
  record: JobRecord
  failing: boolean
  /** Written at once: the job is new, has run for the first time, has begun to fail, or has recovered. */
  isNews: boolean
  isWritten: boolean
  /** Unix milliseconds. */
  writtenAt: number
}

const writeEvery = 60_000
const longest = 300

/** The reason of a failed run, in one line. */
export const failureOf = (cause: Cause.Cause<unknown>) => {
  const [line = ""] = (outageIn(cause) ?? messageOf(Cause.squash(cause))).split("\n")
  return quotable(redact(line), longest)
}

/**
 * The state of this process's jobs, kept in memory and written in the background: at once when a job begins to fail or
 * recovers, else once a minute. An outage of the database blocks no job; the newest state is written after it.
 */
export const makeRecords = Effect.fnUntraced(function*(repo: Pick<JobsRepo, "record" | "forget">) {
  const entries = new Map<string, Entry>()

  const isDue = ({ isNews, isWritten, writtenAt }: Entry, now: number) =>
    !isWritten && (isNews || now - writtenAt >= writeEvery)

  const write = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const due = [...entries.values()].filter((entry) => isDue(entry, now))
    if (due.length === 0) return
    const written = due.map(({ record }) => record)
    yield* repo.record(written)
    due.forEach((entry, at) => {
      entry.writtenAt = now
      entry.isWritten = entry.record === written[at]
      entry.isNews = entry.isNews && !entry.isWritten
    })
    yield* repo.forget
  })

  yield* write.pipe(
    // The shutdown doesn't wait for a database that doesn't answer.
    Effect.disconnect,
    Effect.timeout("5 seconds"),
    Effect.catchAllCause((cause) => Effect.logDebug("The records of jobs could not be written; trying again", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )

  const keyOf = ({ host, name }: Job) => `${host} ${name}`

  const entryOf = (job: Job): Entry => {
    const key = keyOf(job)
    const existing = entries.get(key)
    if (existing !== undefined) return existing
    const record: JobRecord = { ...job, lastRunAt: null, tookMillis: null, failedAt: null, failure: null }
    const created = { record, failing: false, isNews: true, isWritten: false, writtenAt: 0 }
    entries.set(key, created)
    return created
  }

  return {
    /** Lists the job before it has run. */
    add: (job: Job) => void entryOf(job),
    ended: (job: Job, { beganAt, failure, tookMillis }: Run) => {
      const entry = entryOf(job)
      const failing = failure !== undefined
      const isFirst = entry.record.lastRunAt === null
      entry.record = {
        ...entry.record,
        lastRunAt: beganAt,
        tookMillis,
        ...(failing ? { failedAt: beganAt, failure } : {})
      }
      entry.isNews = entry.isNews || isFirst || failing !== entry.failing
      entry.failing = failing
      entry.isWritten = false
    }
  }
})
