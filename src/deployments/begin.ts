import { WorkflowEngine } from "@effect/workflow"
import { Effect } from "effect"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { DeployWorkflow } from "./DeployWorkflow.ts"

/**
 * How a deployment begins: recorded, and started. The pipeline belongs to nobody's request. Should the process end in
 * between, the reconciler starts what was recorded.
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
