import { Clock, Data, Effect, Pool } from "effect"
import { type ResourceLimits, Worker } from "node:worker_threads"

/** Why a thread did not answer; `detail` is for the log. */
export class ThreadFailed extends Data.TaggedError("ThreadFailed")<{
  readonly reason: "crash" | "memory" | "time"
  readonly detail: string
}> {
  override get message() {
    return this.detail
  }
}

export interface ThreadOptions {
  /** The path of JavaScript that answers each message with one: `{ ok }`, or `{ error }`, a text. */
  readonly file: () => string | URL
  /** Maximum at once. */
  readonly threads: number
  readonly workerData?: unknown
  readonly resourceLimits?: ResourceLimits
  /** Milliseconds for a task. */
  readonly within?: number
}

type Answer<A> = { readonly ok: A } | { readonly error: string }

const start = ({ file, ...options }: ThreadOptions) =>
  Effect.acquireRelease(
    // An "error" event without a listener would end the process. `ask` notices a thread that died while it was idle.
    Effect.sync(() => new Worker(file(), options).on("error", () => {})),
    (worker) => Effect.promise(() => worker.terminate())
  )

const failed = (reason: ThreadFailed["reason"], detail: string) => new ThreadFailed({ reason, detail })

const ask = <A>(worker: Worker, task: unknown, within: number | undefined) =>
  Effect.async<A, ThreadFailed>((resume) => {
    const settle = (result: Effect.Effect<A, ThreadFailed>) => {
      clearTimeout(timer)
      worker.off("message", onAnswer).off("error", onError).off("exit", onExit)
      resume(result)
    }
    const onAnswer = (answer: Answer<A>) =>
      settle("ok" in answer ? Effect.succeed(answer.ok) : failed("crash", answer.error))
    const onError = (error: NodeJS.ErrnoException) =>
      settle(failed(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash", String(error.stack ?? error)))
    const onExit = (code: number) => settle(failed("crash", `The thread ended with code ${code}`))
    const late = () => settle(failed("time", `The thread did not answer within ${(within ?? 0) / 1000} seconds`))
    const timer = within === undefined ? undefined : setTimeout(late, within)
    if (worker.threadId === -1) return onExit(-1)
    worker.on("message", onAnswer).on("error", onError).on("exit", onExit)
    worker.postMessage(task)
  })

/** A thread that nobody needs takes 15 MB and more; to start one takes tens of milliseconds. */
const idle = "1 minute"

/**
 * Worker threads, apart from the one that serves requests. Tasks queue here in order, so a task cancelled in the queue
 * never starts; one that has started runs to its end and keeps its thread until then. A thread that failed is replaced.
 */
export const threads = Effect.fnUntraced(function*<Task, A>(options: ThreadOptions) {
  const pool = yield* Pool.makeWithTTL({ acquire: start(options), min: 0, max: options.threads, timeToLive: idle })
    .pipe(
      // Real threads have real time, also where a test moves the clock by days.
      Effect.withClock(Clock.make())
    )
  return (task: Task) =>
    Effect.scoped(
      Effect.flatMap(
        pool.get,
        (worker) =>
          Effect.uninterruptible(
            Effect.tapErrorCause(ask<A>(worker, task, options.within), () => pool.invalidate(worker))
          )
      )
    )
})
