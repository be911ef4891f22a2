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
import { patientReplies } from "./patient-replies.ts"

/** The only runner of a cluster logs warnings about that during its whole shutdown. Errors are still logged. */
const sharding = Layer.locally(Sharding.layer, FiberRef.currentMinimumLogLevel, LogLevel.Error)

/**
 * The durable workflow engine, in the platform's own database; it creates its tables itself. Composed by hand because
 * the library's layer reads the process environment (such as `HOST` and `PORT`).
 */
export const EngineLive = ClusterWorkflowEngine.layer.pipe(
  Layer.provide(sharding),
  Layer.provide(Runners.layerNoop),
  Layer.provide(Layer.provide(patientReplies, SqlMessageStorage.layer)),
  Layer.provide([Layer.orDie(SqlRunnerStorage.layer), RunnerHealth.layerNoop]),
  Layer.provide(ShardingConfig.layer({
    shardsPerGroup: 32,
    entityTerminationTimeout: "1 second",
    // One host serves at a time (src/hosts), so another host's shards are free once its lease is. A session's advisory
    // lock would stay with a frozen or disconnected process until PostgreSQL notices that its session is dead.
    shardLockDisableAdvisory: true
  }))
)
