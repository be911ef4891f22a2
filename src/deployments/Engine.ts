import {
  ClusterWorkflowEngine,
  RunnerHealth,
  Runners,
  Sharding,
  ShardingConfig,
  SqlMessageStorage,
  SqlRunnerStorage
} from "@effect/cluster"
import { type SqlClient } from "@effect/sql"
import { type WorkflowEngine } from "@effect/workflow"
import { Effect, Exit, Layer, Scope } from "effect"
import { Stopping } from "./Stopping.ts"

/**
 * The durable engine in the platform's own database; it makes its tables itself. Put together by hand because the
 * ready-made layer reads the process's environment (`HOST` and `PORT` among it).
 */
const engine = ClusterWorkflowEngine.layer.pipe(
  Layer.provide(Sharding.layer),
  Layer.provide(Runners.layerNoop),
  Layer.provideMerge(SqlMessageStorage.layer),
  Layer.provide([Layer.orDie(SqlRunnerStorage.layer), RunnerHealth.layerNoop]),
  Layer.provide(ShardingConfig.layer({ shardsPerGroup: 32, entityTerminationTimeout: "1 second" }))
)

/**
 * Closing it waits for activities, and those wait for the next start once the process is stopping: so their end is
 * not awaited for longer than a moment. What they were at is done again, as after a crash.
 */
export const EngineLive: Layer.Layer<WorkflowEngine.WorkflowEngine, never, SqlClient.SqlClient | Stopping> = Layer
  .scopedContext(Effect.gen(function*() {
    const stopping = yield* Stopping
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) =>
      stopping.begin.pipe(
        Effect.zipRight(Effect.forkDaemon(Scope.close(scope, Exit.void))),
        Effect.flatMap((closing) => closing.await),
        Effect.interruptible,
        Effect.timeoutOption("2 seconds")
      ))
    return yield* Layer.buildWithScope(engine, scope)
  }))
