import { ServerRow } from "#src/servers/Server.ts"
import { ServerHealth } from "#src/servers/ServerHealth.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { maybe, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { DeploymentRow } from "./Deployment.ts"
import { isSettled, mayHaveMachine, rules, sourcesOf } from "./transitions.ts"

/** The outcomes of a pipeline, swap, failure and cancellation, each in one transaction under the server's row lock. */
export class OutcomesRepo extends Effect.Service<OutcomesRepo>()("deployments/OutcomesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const states = yield* ServerStates
    const health = yield* ServerHealth

    const lockServer = maybe(ServerRow)((id: string) => sql`SELECT * FROM servers WHERE id = ${id} FOR UPDATE`)
    const lockDeployment = maybe(DeploymentRow)((id: string) =>
      sql`SELECT * FROM deployments WHERE id = ${id} FOR UPDATE`
    )

    const lockBoth = Effect.fnUntraced(function*(id: string, serverId: string) {
      const server = yield* lockServer(serverId)
      const deployment = yield* lockDeployment(id)
      return Option.all({ server, deployment })
    })

    /** Compares the server's generation (compare-and-set), so that a later change is not undone. */
    const swap = Effect.fnUntraced(function*(id: string, serverId: string, generation: number, drainSeconds: number) {
      const rows = yield* lockBoth(id, serverId)
      if (Option.isNone(rows)) return "gone" as const
      const { deployment, server } = rows.value
      if (deployment.active || deployment.status === "rolled_back") return "swapped" as const
      if (!sourcesOf("swapping").includes(deployment.stage)) return "gone" as const
      if (server.generation !== generation) return "overtaken" as const
      yield* sql`UPDATE deployments SET active = false, drains_until = now() + make_interval(secs => ${drainSeconds}),
          status = ${deployment.type === "rollback" ? "rolled_back" : "running"}
        WHERE server_id = ${serverId} AND active`
      yield* sql`UPDATE deployments SET active = true, status = ${rules.swapping.status}, stage = 'swapping',
          deployed_at = now() WHERE id = ${id}`
      yield* states.deploymentServes(serverId, id)
      yield* health.checked(serverId, server.healthPath)
      return "swapped" as const
    })

    /**
     * Without an active deployment the server goes into error. With one it keeps its status, unless the customer has
     * switched auto-rollback off: then a deployment that already has a machine keeps it, and the server goes into
     * error.
     */
    const fail = Effect.fnUntraced(function*(id: string, serverId: string, message: string) {
      const rows = yield* lockBoth(id, serverId)
      if (Option.isNone(rows)) return Option.none()
      const { deployment, server } = rows.value
      if (!sourcesOf("failed").includes(deployment.stage)) return Option.none()
      if (deployment.status === "failed") {
        // One that was canceled meanwhile has a message of its own, and is not told of again.
        return deployment.errorMessage === message ? Option.some(deployment) : Option.none()
      }
      const kept = mayHaveMachine(deployment.stage) && !server.rollbackOnHealthCheckFailure
      const stage = kept ? "kept" as const : "failed" as const
      yield* sql`UPDATE deployments SET status = 'failed', stage = ${stage}, error_message = ${message} WHERE id = ${id}`
      if (kept || server.activeDeploymentId === null) yield* states.deploymentFailed(serverId)
      return Option.some({ ...deployment, stage, status: "failed" as const })
    })

    /** The pipeline finds out when it enters its next stage, and destroys its machine. */
    const cancel = Effect.fnUntraced(function*(id: string, serverId: string, message: string) {
      const rows = yield* lockBoth(id, serverId)
      if (Option.isNone(rows)) return Option.none()
      const { deployment, server } = rows.value
      if (isSettled(deployment.status)) return Option.some({ canceled: false, status: deployment.status })
      yield* sql`UPDATE deployments SET status = 'failed', stage = 'failed', error_message = ${message} WHERE id = ${id}`
      if (server.activeDeploymentId === null) yield* states.deploymentFailed(serverId)
      return Option.some({ canceled: true, status: "failed" as const })
    })

    return {
      /** `drainSeconds`: how long the replaced machine may stay. */
      swap: (id: string, serverId: string, generation: number, drainSeconds: number) =>
        transactionally(sql)(swap(id, serverId, generation, drainSeconds)),
      /** Whether this call canceled it, and its status; none when it was deleted. */
      cancel: (id: string, serverId: string, message: string) => transactionally(sql)(cancel(id, serverId, message)),
      /** The failed record; none when it was deleted or has ended another way. */
      fail: (id: string, serverId: string, message: string) => transactionally(sql)(fail(id, serverId, message))
    } as const
  })
}) {}
