import {
  ClusterWorkflowEngine,
  RunnerHealth,
  Runners,
  Sharding,
  ShardingConfig,
  SqlMessageStorage,
  SqlRunnerStorage
} from "@effect/cluster"
import { FiberRef, Layer, LogLevel } from "effect"

/** Alone in its cluster, it warns of that all the time that it takes to close. Errors are still told. */
const sharding = Layer.locally(Sharding.layer, FiberRef.currentMinimumLogLevel, LogLevel.Error)

/**
 * The durable workflow engine, in the platform's own database; it makes its tables itself. Put together by hand
 * because the ready-made layer reads the process's environment (`HOST` and `PORT` among it).
 */
export const EngineLive = ClusterWorkflowEngine.layer.pipe(
  Layer.provide(sharding),
  Layer.provide(Runners.layerNoop),
  Layer.provide(SqlMessageStorage.layer),
  Layer.provide([Layer.orDie(SqlRunnerStorage.layer), RunnerHealth.layerNoop]),
  Layer.provide(ShardingConfig.layer({
    shardsPerGroup: 32,
    entityTerminationTimeout: "1 second",
    // One host serves at a time (src/hosts): what another held is free with its lease. A lock of a session would stay with
    // a process that stands still, or whose network is cut, for as long as PostgreSQL takes that session for alive.
    shardLockDisableAdvisory: true
  }))
)
