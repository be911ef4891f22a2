import { Clock, Effect, Pool } from "effect"
import { Worker } from "node:worker_threads"

/** Hashes a password, or checks it against a stored hash. */
export interface Task {
  readonly password: string
  readonly stored?: string
}

type Answer = { readonly ok: string | boolean } | { readonly error: string }

export interface Options {
  readonly threads: number
  /** Niceness: from 0, the process's own priority, to 19, the lowest. */
  readonly nice: number
  /** Options of argon2. */
  readonly options: { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }
}

const start = (workerData: Omit<Options, "threads">) =>
  Effect.acquireRelease(
    // An "error" event without a listener would end the process. `ask` notices a thread that died while it was idle.
    Effect.sync(() => new Worker(new URL("./hash-thread.js", import.meta.url), { workerData }).on("error", () => {})),
    (worker) => Effect.promise(() => worker.terminate())
  )

const ask = (worker: Worker, task: Task) =>
  Effect.async<string | boolean>((resume) => {
    const settle = (result: Effect.Effect<string | boolean>) => {
      worker.off("message", onAnswer).off("error", onError).off("exit", onExit)
      resume(result)
    }
    const onAnswer = (answer: Answer) =>
      settle("ok" in answer ? Effect.succeed(answer.ok) : Effect.dieMessage(`Hashing failed: ${answer.error}`))
    const onError = (error: Error) => settle(Effect.die(error))
    const onExit = (code: number) => settle(Effect.dieMessage(`A hashing thread ended with code ${code}`))
    if (worker.threadId === -1) return onExit(-1)
    worker.on("message", onAnswer).on("error", onError).on("exit", onExit)
    worker.postMessage(task)
  })

/** A thread that nobody needs takes 15 MB; to start one takes as long as two hashes. */
const idle = "1 minute"

/**
 * Worker threads, apart from the one that serves requests. Tasks queue here in order, so a task cancelled in the queue
 * never starts; one that has started runs to its end and keeps its thread until then.
 */
export const hashThreads = Effect.fnUntraced(function*({ threads, ...data }: Options) {
  const pool = yield* Pool.makeWithTTL({ acquire: start(data), min: 0, max: threads, timeToLive: idle }).pipe(
    // Real threads have real time, also where a test moves the clock by days.
    Effect.withClock(Clock.make())
  )
  return (task: Task) =>
    Effect.scoped(
      Effect.flatMap(pool.get, (worker) =>
        Effect.uninterruptible(Effect.tapDefect(ask(worker, task), () => pool.invalidate(worker))))
    )
})
