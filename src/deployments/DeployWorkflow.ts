import { diskFull, isDiskFull } from "#src/shared/disk-full.ts"
import { Activity, Workflow } from "@effect/workflow"
import { Effect, Layer, Option, Schema } from "effect"
import { DeploymentId, type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { Drains } from "./Drains.ts"
import { Pipeline, Source } from "./Pipeline.ts"
import { RoomWaits } from "./RoomWaits.ts"
import { Gone, StageFailed } from "./StageFailed.ts"
import { staysInterrupted, Stopping, StopsFirst } from "./Stopping.ts"
import { throughOutage } from "./through-outage.ts"
import { isSettled, type Stage } from "./transitions.ts"

const Failed = Schema.Union(StageFailed, Gone)

/** The pipeline of one deployment. The deployment's id is the idempotency key: started twice, it runs once. */
export const DeployWorkflow = Workflow.make({
  name: "Deploy",
  payload: { deploymentId: DeploymentId, serverId: Schema.String },
  idempotencyKey: ({ deploymentId }) => deploymentId
})

/**
 * The journal has no room for the next stage: this one is the last. Its record takes less, and may be written at once;
 * the workflow ends once it is.
 */
const failForRoom = Effect.fnUntraced(function*(id: DeploymentId, serverId: string) {
  const pipeline = yield* Pipeline
  const repo = yield* DeploymentsRepo
  const record = Option.getOrUndefined(yield* repo.find(id))
  if (record === undefined || isSettled(record.status)) return
  yield* pipeline.fail(id, serverId, `${record.stage}: ${diskFull}`)
})

const registration = DeployWorkflow.toLayer(({ deploymentId: id, serverId }) =>
  Effect.gen(function*() {
    const pipeline = yield* Pipeline
    const drains = yield* Drains
    const stopping = yield* Stopping

    const activity = <A, I>(
      name: string,
      success: Schema.Schema<A, I>,
      execute: Effect.Effect<A, StageFailed | Gone>
    ) =>
      Activity.make({
        name,
        success,
        error: Failed,
        execute: stopping.guarded(execute),
        interruptRetryPolicy: staysInterrupted
      }).pipe(throughOutage())

    const step = <A, I, E extends { readonly message: string }>(
      stage: Stage,
      success: Schema.Schema<A, I>,
      work: (record: DeploymentRow) => Effect.Effect<A, E>
    ) => activity(stage, success, pipeline.stage(id, stage, work))

    const untilSwap = Effect.gen(function*() {
      const source = yield* step("resolving", Source, pipeline.resolve)
      yield* step("scanning", Schema.Void, (record) => pipeline.scan(record, source))
      yield* step("mirroring", Schema.Void, (record) => pipeline.mirror(record, source))
      // A step of its own: what went wrong there is not tried again from the image's own registry on.
      yield* activity(
        "pushing",
        Schema.Void,
        pipeline.stage(id, "mirroring", (record) => pipeline.push(record, source))
      )
      const generation = yield* step("creating", Schema.Int, (record) => pipeline.create(record, source))
      yield* step("starting", Schema.Void, pipeline.start)
      yield* step("checking", Schema.Void, pipeline.check)
      yield* activity("swapping", Schema.Void, pipeline.swap(id, serverId, generation))
    })

    /** After the swap the new machine stays untouched; only the old ones are removed, once they have drained. */
    const afterSwap = Effect.gen(function*() {
      yield* step("draining", Schema.Void, ({ version }) => drains.before(serverId, version))
      yield* activity("retiring", Schema.Void, pipeline.retire(id, serverId))
    })

    yield* untilSwap.pipe(
      Effect.zipRight(Effect.ignore(afterSwap)),
      Effect.catchTags({
        StageFailed: ({ message }) =>
          activity("failing", Schema.Void, throughOutage(60)(pipeline.fail(id, serverId, message))),
        Gone: () => activity("discarding", Schema.Void, pipeline.discard(id))
      })
    )
  }).pipe(
    Effect.orDie,
    Effect.catchSomeDefect((defect) =>
      isDiskFull(defect)
        ? Option.some(Effect.flatMap(RoomWaits, ({ patiently }) => patiently(failForRoom(id, serverId))))
        : Option.none()
    )
  )
)

export const DeployWorkflowLive = Layer.provideMerge(StopsFirst, registration)
