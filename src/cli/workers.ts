import { CurrentSettings, SettingsLive } from "#src/config/Settings.ts"
import { LoggingLive } from "#src/shared/logging.ts"
import { Clock, Deferred, Effect, Layer, Ref } from "effect"
import cluster, { type Worker } from "node:cluster"
import { once } from "node:events"
import { limitShutdown } from "./signals.ts"

const shortestPause = 1_000
const longestPause = 30_000
/** Milliseconds after which an end is not one of a row. */
const settledAfter = 60_000

/** A worker that ended, whether or not it had listened. */
interface Ended {
  readonly listened: boolean
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const describe = ({ code, signal }: Ended) => signal === null ? `with code ${code}` : `by ${signal}`

/** Runs a worker to its end. It inherits our command line, and `cluster` tells it what it is. */
const runWorker = (onListening: Effect.Effect<unknown>, workers: Set<Worker>) =>
  Effect.async<Ended>((resume) => {
    const worker = cluster.fork()
    workers.add(worker)
    let listened = false
    worker.on("listening", () => {
      listened = true
      Effect.runFork(onListening)
    })
    // Without a listener a failed fork would end us.
    worker.on("error", () => undefined)
    worker.once("exit", (code, signal) => {
      workers.delete(worker)
      resume(Effect.succeed({ listened, code, signal: (signal as NodeJS.Signals | undefined) ?? null }))
    })
  })

/**
 * Keeps a worker running: one that ends is started again, later each time if they end soon. Ends only with a worker that
 * never listened at the first try: it has said what is wrong.
 */
const keepRunning = (number: number, onListening: Effect.Effect<unknown>, workers: Set<Worker>) =>
  Effect.gen(function*() {
    const pause = yield* Ref.make(shortestPause)
    let first = true
    for (;;) {
      const began = yield* Clock.currentTimeMillis
      const ended = yield* runWorker(onListening, workers)
      if (first && !ended.listened) return
      first = false
      if ((yield* Clock.currentTimeMillis) - began > settledAfter) yield* Ref.set(pause, shortestPause)
      const wait = yield* Ref.getAndUpdate(pause, (now) => Math.min(longestPause, now * 2))
      yield* Effect.logWarning(
        `Gateway process ${number} ended ${describe(ended)}; starting it again in ${wait / 1000} s`
      )
      yield* Effect.sleep(wait)
    }
  })

const stopAll = (workers: Set<Worker>) =>
  Effect.promise(async () => {
    const exits = [...workers].map((worker) => once(worker, "exit"))
    for (const worker of workers) worker.process.kill("SIGTERM")
    await Promise.all(exits)
  })

/**
 * Runs as many processes as asked for on one port (`node:cluster`: this process opens it, and they accept from it).
 * The first one has to listen before the others begin, so that what is wrong is said once.
 */
export const superviseWorkers = (count: number) =>
  Effect.gen(function*() {
    const { host, port, shutdownSeconds } = yield* CurrentSettings
    const workers = new Set<Worker>()
    // Each accepts its own connections: one that was dealt out to a worker that dies would hang for its client.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    yield* Effect.addFinalizer(() => stopAll(workers))
    limitShutdown(shutdownSeconds, () => {
      for (const worker of workers) worker.process.kill("SIGTERM")
    })
    const firstListens = yield* Deferred.make<void>()
    const listening = yield* Ref.make(0)
    const onListening = Effect.gen(function*() {
      yield* Deferred.succeed(firstListens, undefined)
      const now = yield* Ref.updateAndGet(listening, (n) => n + 1)
      if (now === count) yield* Effect.log(`The gateway is ready on ${host} port ${port}, with ${count} processes`)
    })
    const runtime = yield* Effect.runtime()
    const announced = Effect.provide(onListening, runtime)
    const failed = yield* Deferred.make<void>()
    const run = (number: number) =>
      Effect.forkScoped(Effect.zipRight(keepRunning(number, announced, workers), Deferred.succeed(failed, undefined)))
    const { serveWorkerMetrics } = yield* Effect.promise(() => import("#src/GatewaySupervisor.ts"))
    yield* serveWorkerMetrics(workers)
    yield* run(1)
    const begin = Deferred.await(firstListens).pipe(
      Effect.zipRight(Effect.forEach(Array.from({ length: count - 1 }, (_, i) => i + 2), run, { discard: true })),
      Effect.zipRight(Effect.never)
    )
    yield* Effect.raceFirst(begin, Deferred.await(failed))
    yield* Effect.sync(() => {
      process.exitCode = 1
    })
  }).pipe(Effect.provide(Layer.provideMerge(LoggingLive, SettingsLive)))
