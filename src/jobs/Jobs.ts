import { CurrentSettings } from "#src/config/Settings.ts"
import { hostId } from "#src/shared/host-id.ts"
import { now } from "#src/shared/now.ts"
import { reportOutageIn } from "#src/shared/outage.ts"
import { type Cause, Duration, Effect, Exit, Option, Schedule, type Scope } from "effect"
import { countRun } from "./job-metrics.ts"
import { type Job } from "./Job.ts"
import { JobsRepo } from "./JobsRepo.ts"
import { failureOf, makeRecords } from "./records.ts"

interface JobOptions {
  /** Delay of the first run; none by default. */
  readonly after?: Duration.DurationInput
}

/** The job runs in the background until the scope closes. */
type Begun<R> = Effect.Effect<void, never, R | Scope.Scope>

/** Maximum pause before a retry when the database can't be reached to claim a run. */
const retryAfter = Duration.minutes(1)

/** Of a job with a long interval: the pause after a failed run, and after a run began with a host that died in it. */
const failureRetry = Duration.minutes(5)
const lease = Duration.minutes(15)

/**
 * All periodic work. A run's failure is logged and recorded (`berth admin jobs`), and the next run comes as planned.
 * See docs/decisions/jobs.md.
 */
export class Jobs extends Effect.Service<Jobs>()("jobs/Jobs", {
  scoped: Effect.gen(function*() {
    const { home } = yield* CurrentSettings
    const host = yield* hostId(home)
    const repo = yield* JobsRepo
    const records = yield* makeRecords(repo)

    const failed = (job: Job, beganAt: Date, tookMillis: number, cause: Cause.Cause<unknown>) =>
      Effect.zipRight(
        countRun(job.name, "failed"),
        Effect.suspend(() => {
          records.ended(job, { beganAt, tookMillis, failure: failureOf(cause) })
          return Effect.zipRight(
            reportOutageIn(cause),
            Effect.logWarning(`${job.name} failed and is tried again`, cause)
          )
        })
      )

    const run = <E, R>(job: Job, work: Effect.Effect<unknown, E, R>) =>
      Effect.gen(function*() {
        const beganAt = yield* now
        const [took, exit] = yield* Effect.timed(Effect.exit(work))
        const tookMillis = Math.round(Duration.toMillis(took))
        if (Exit.isFailure(exit)) yield* failed(job, beganAt, tookMillis, exit.cause)
        else {
          records.ended(job, { beganAt, tookMillis, failure: undefined })
          yield* countRun(job.name, "succeeded")
        }
        return Exit.isSuccess(exit)
      })

    const begin = <R>(job: Job, loop: Effect.Effect<unknown, never, R>, { after }: JobOptions = {}): Begun<R> =>
      Effect.suspend(() => {
        records.add(job)
        return Effect.forkScoped(after === undefined ? loop : Effect.delay(loop, after))
      })

    /** Each host runs it, with this pause between two runs. */
    const every = <E, R>(
      name: string,
      interval: Duration.DurationInput,
      work: Effect.Effect<unknown, E, R>,
      options?: JobOptions
    ) => {
      const job = { name, host, intervalMillis: Duration.toMillis(interval) }
      return begin(job, Effect.repeat(run(job, work), Schedule.spaced(interval)), options)
    }

    /** Each host runs it, each time that `requested` completes. */
    const onRequest = <E, R, R2>(
      name: string,
      requested: Effect.Effect<unknown, never, R2>,
      work: Effect.Effect<unknown, E, R>
    ) => {
      const job = { name, host, intervalMillis: null }
      return begin(job, Effect.forever(Effect.zipRight(requested, run(job, work))))
    }

    /**
     * One host of all runs it, with this pause between two runs: the first to claim it when it is due. After a failure, and
     * when a host dies during a run, the next comes within minutes.
     */
    const once = <E, R>(
      name: string,
      interval: Duration.DurationInput,
      work: Effect.Effect<unknown, E, R>,
      options?: JobOptions
    ) => {
      const job = { name, host: "", intervalMillis: Duration.toMillis(interval) }
      const atMost = (pause: Duration.Duration) => Math.min(job.intervalMillis, Duration.toMillis(pause))
      let next: Effect.Effect.Success<ReturnType<typeof repo.due>> | undefined
      const turn = Effect.gen(function*() {
        const { due, waitMillis } = next ?? (yield* repo.due(name))
        next = undefined
        yield* Effect.sleep(Math.min(waitMillis, job.intervalMillis))
        const claimed = yield* repo.claim(job, due, atMost(lease))
        if (Option.isNone(claimed)) return
        const hasSucceeded = yield* run(job, work)
        // Claims the next run now, so that the pause begins at the end of this one.
        const pause = hasSucceeded ? job.intervalMillis : atMost(failureRetry)
        const renewed = yield* repo.claim(job, claimed.value, pause)
        if (Option.isSome(renewed)) next = { due: renewed.value, waitMillis: pause }
      })
      const retrying = Effect.catchAllCause(
        turn,
        (cause) =>
          Effect.flatMap(now, (at) => failed(job, at, 0, cause)).pipe(
            Effect.zipRight(Effect.sleep(Duration.min(interval, retryAfter)))
          )
      )
      return begin(job, Effect.forever(retrying), options)
    }

    return { every, once, onRequest } as const
  })
}) {}
