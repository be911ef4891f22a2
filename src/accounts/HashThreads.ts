import { Effect, Pool } from "effect"
import { Worker } from "node:worker_threads"

/** Hashes a password, or checks it against a stored hash. */
export interface Task {
  readonly password: string
  readonly stored?: string
}

type Answer = { readonly ok: string | boolean } | { readonly error: string }

export interface Options {
  readonly threads: number
  /** From 0, the process's own priority, to 19, the lowest. */
  readonly nice: number
  /** Of argon2. */
  readonly options: { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }
}

const start = (workerData: Omit<Options, "threads">) =>
  Effect.acquireRelease(
    // One that ends while nobody asks it is found out when it is asked; unheard, its error would end the process.
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

/**
 * Threads beside the one that serves requests. Tasks wait here in their order, so that one that is given up while it
 * waits never begins; what a thread has begun it ends, and keeps its thread until then.
 */
export const hashThreads = Effect.fnUntraced(function*({ threads, ...data }: Options) {
  const pool = yield* Pool.make({ acquire: start(data), size: threads })
  return (task: Task) =>
    Effect.scoped(
      Effect.flatMap(pool.get, (worker) =>
        Effect.uninterruptible(Effect.tapDefect(ask(worker, task), () => pool.invalidate(worker))))
    )
})
