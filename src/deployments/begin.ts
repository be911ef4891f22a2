import { IdempotentRun } from "#src/shared/Idempotency.ts"
import { ComputeTime } from "#src/usage/ComputeTime.ts"
import { WorkflowEngine } from "@effect/workflow"
import { Effect, Option } from "effect"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { DeployWorkflow } from "./DeployWorkflow.ts"

/**
 * Begins a deployment: records it, then starts its pipeline, which is independent of the request. If the process ends
 * in between, the reconciler starts it.
 */
export const makeBegin = Effect.gen(function*() {
  const repo = yield* DeploymentsRepo
  const engine = yield* WorkflowEngine.WorkflowEngine
  return (...row: Parameters<typeof repo.begin>) =>
    Effect.uninterruptible(
      Effect.tap(repo.begin(...row), ({ id, serverId }) =>
        DeployWorkflow.execute({ deploymentId: id, serverId }, { discard: true }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
          Effect.catchAllDefect((defect) =>
            Effect.logWarning(`${id} is left for the reconciler to start`, defect)
          )
        ))
    )
})

/** The same for a caller, whose account has machine time left, and whose `Idempotency-Key` finds it again. */
export const makeBeginForCaller = Effect.gen(function*() {
  const begin = yield* makeBegin
  const compute = yield* ComputeTime
  return Effect.fnUntraced(function*(row: Parameters<typeof begin>[0]) {
    yield* compute.check
    return yield* begin(row, (yield* IdempotentRun).checkpoint(row.id))
  })
})

/** Only one for an `Idempotency-Key`: `read` finds the one that its first request began before the program ended. */
export const begunOnce =
  <A, E1, R1>(read: (id: string) => Effect.Effect<A, E1, R1>) => <E2, R2>(begun: Effect.Effect<A, E2, R2>) =>
    Effect.flatMap(
      IdempotentRun,
      ({ recovered }) =>
        Option.match(recovered, { onNone: (): Effect.Effect<A, E1 | E2, R1 | R2> => begun, onSome: read })
    )
