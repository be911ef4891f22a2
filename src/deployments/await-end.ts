import { type ServerLogs } from "#src/servers/ServerLogs.ts"
import { CallerLeft } from "#src/shared/CallerLeft.ts"
import { type Report } from "#src/shared/progress.ts"
import { Cause, Effect } from "effect"
import { type Deployment } from "./Deployment.ts"
import { throughOutage } from "./through-outage.ts"

interface Ways<E1, R1, E2, R2> {
  readonly follow: (id: string, report: Report) => Effect.Effect<Deployment, E1, R1>
  readonly logs: Pick<ServerLogs, "append">
  /** Completes when the platform ends, and it is time for answers. */
  readonly ending: Effect.Effect<void>
  /** The deployment as it is. */
  readonly now: (id: string) => Effect.Effect<Deployment, E2, R2>
}

const canceling = "cancel_deployment (POST …/cancel) ends it"

/**
 * Follows a deployment that the caller began. A caller who leaves ends the waiting and not the deployment, which its log
 * then says, and where it can still be told, the caller too (docs/decisions/interrupted-calls.md). Who waits when the
 * platform ends gets it as it is; where the database stays away, as it began.
 */
export const awaitingEnd = <E1, R1, E2, R2>({ ending, follow, logs, now }: Ways<E1, R1, E2, R2>) =>
  Effect.fn("Deployments.awaitEnd")(function*(begun: Deployment, report: Report) {
    const { id, serverId, version } = begun
    const message = `Deployment ${version}: whoever waited for it has left; it goes on, and ${canceling}`
    const tell = Effect.all([
      logs.append(serverId, [{ level: "info", message }]),
      report({ step: 0, total: 1, message: `The deployment ${id} goes on; ${canceling}` })
    ]).pipe(Effect.catchAllCause(() => Effect.void))
    const left = Effect.zipRight(yield* CallerLeft, now(id))
    const ended = Effect.raceFirst(follow(id, report), Effect.zipRight(ending, now(id))).pipe(
      throughOutage(),
      Effect.catchAllCause((cause) =>
        Cause.isDie(cause) && !Cause.isInterrupted(cause) ? Effect.succeed(begun) : Effect.failCause(cause)
      )
    )
    // To lose the race is to be interrupted, too.
    return yield* Effect.raceFirst(Effect.onInterrupt(ended, () => tell), left)
  })
