import { ComputeTime } from "#src/usage/ComputeTime.ts"
import { WorkflowEngine } from "@effect/workflow"
import { Effect } from "effect"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { DeployWorkflow } from "./DeployWorkflow.ts"

/**
 * Begins a deployment: records it, then starts its pipeline, which is independent of the request. If the process ends
 * in between, the reconciler starts it.
 */
export const makeBegin = Effect.gen(function*() {
  const repo = yield* DeploymentsRepo
  const engine = yield* WorkflowEngine.WorkflowEngine
  return (row: Parameters<typeof repo.begin>[0]) =>
    Effect.uninterruptible(
      Effect.tap(repo.begin(row), ({ id, serverId }) =>
        DeployWorkflow.execute({ deploymentId: id, serverId }, { discard: true }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
          Effect.catchAllDefect((defect) =>
            Effect.logWarning(`${id} is left for the reconciler to start`, defect)
          )
        ))
    )
})

/** The same for a caller, whose account has machine time left. */
export const makeBeginForCaller = Effect.gen(function*() {
  const begin = yield* makeBegin
  const compute = yield* ComputeTime
  return (row: Parameters<typeof begin>[0]) => Effect.zipRight(compute.check, begin(row))
})
