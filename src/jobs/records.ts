import { messageOf } from "#src/shared/message-of.ts"
import { outageIn } from "#src/shared/outage.ts"
import { quotable } from "#src/shared/outside-text.ts"
import { redact } from "#src/shared/redact.ts"
import { Cause, Clock, Effect, Schedule } from "effect"
import { type Job, type JobRecord } from "./Job.ts"
import { type JobsRepo } from "./JobsRepo.ts"

/** A run that came to its end. */
export interface Run {
  readonly beganAt: Date
  readonly tookMillis: number
  /** Undefined when it went well. */
  readonly failure: string | undefined
}

interface Kept {
  record: JobRecord
  failing: boolean
  /** Not to wait for its turn: the job is new, has run for the first time, has begun to fail, or has recovered. */
  isNews: boolean
  isWritten: boolean
  /** Unix milliseconds. */
  writtenAt: number
}

const writeEvery = 60_000
const longest = 300

/** Why a run failed, in one line. */
export const failureOf = (cause: Cause.Cause<unknown>) => {
  const [line = ""] = (outageIn(cause) ?? messageOf(Cause.squash(cause))).split("\n")
  return quotable(redact(line), longest)
}

/**
 * How the jobs of this process fare, kept in memory and written in the background: at once when a job begins to fail or
 * recovers, else once a minute. While the database is away nobody waits, and the newest is written when it is back.
 */
export const makeRecords = Effect.fnUntraced(function*(repo: Pick<JobsRepo, "record" | "forget">) {
  const kept = new Map<string, Kept>()

  const isDue = ({ isNews, isWritten, writtenAt }: Kept, now: number) =>
    !isWritten && (isNews || now - writtenAt >= writeEvery)

  const write = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const due = [...kept.values()].filter((one) => isDue(one, now))
    if (due.length === 0) return
    const written = due.map(({ record }) => record)
    yield* repo.record(written)
    due.forEach((one, at) => {
      one.writtenAt = now
      one.isWritten = one.record === written[at]
      one.isNews = one.isNews && !one.isWritten
    })
    yield* repo.forget
  })

  yield* write.pipe(
    // The end of the process does not wait for a database that says nothing.
    Effect.disconnect,
    Effect.timeout("5 seconds"),
    Effect.catchAllCause((cause) => Effect.logDebug("When jobs ran could not be written; trying again", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )

  const keyOf = ({ host, name }: Job) => `${host} ${name}`

  const known = (job: Job): Kept => {
    const key = keyOf(job)
    const found = kept.get(key)
    if (found !== undefined) return found
    const record: JobRecord = { ...job, lastRunAt: null, tookMillis: null, failedAt: null, failure: null }
    const fresh = { record, failing: false, isNews: true, isWritten: false, writtenAt: 0 }
    kept.set(key, fresh)
    return fresh
  }

  return {
    /** Has the job listed, before it has run. */
    add: (job: Job) => void known(job),
    ended: (job: Job, { beganAt, failure, tookMillis }: Run) => {
      const one = known(job)
      const failing = failure !== undefined
      const isFirst = one.record.lastRunAt === null
      one.record = {
        ...one.record,
        lastRunAt: beganAt,
        tookMillis,
        ...(failing ? { failedAt: beganAt, failure } : {})
      }
      one.isNews = one.isNews || isFirst || failing !== one.failing
      one.failing = failing
      one.isWritten = false
    }
  }
})
