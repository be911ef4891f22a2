import { type Report } from "#src/shared/progress.ts"
import { Effect, Option } from "effect"
import { type Deployment } from "./Deployment.ts"
import { nextStep } from "./next-step.ts"
import { isSettled } from "./transitions.ts"

interface Ways<E, R> {
  readonly follow: (id: string, report: Report) => Effect.Effect<Deployment, E, R>
  /** The deployment as it is. */
  readonly now: (id: string) => Effect.Effect<Deployment, E, R>
  /** The version that serves, if one does. */
  readonly serving: (serverId: string) => Effect.Effect<number | undefined, E, R>
}

/** Follows a deployment for at most so long, and says what to do next. */
export const waitingFor = <E, R>({ follow, now, serving }: Ways<E, R>) =>
  Effect.fn("Deployments.waitFor")(function*(id: string, seconds: number, report: Report) {
    const ended = yield* Effect.timeoutOption(follow(id, report), `${seconds} seconds`)
    const deployment = Option.isSome(ended) ? ended.value : yield* now(id)
    const version = yield* serving(deployment.serverId)
    return { ended: isSettled(deployment.status), next: nextStep(deployment, version), deployment }
  })
