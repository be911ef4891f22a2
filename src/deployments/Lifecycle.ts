import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { ServerNotFound, type ServerRow } from "#src/servers/Server.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { diskFull, orDiskFull } from "#src/shared/disk-full.ts"
import { NoRoom } from "#src/shared/Disk.ts"
import { ComputeTime } from "#src/usage/ComputeTime.ts"
import { Effect, Fiber, Option } from "effect"
import { DeploymentInProgress, type DeploymentRow, NotDeployed } from "./Deployment.ts"
import { Drains, untilHeard } from "./Drains.ts"
import { FleetRepo } from "./FleetRepo.ts"
import { Launch } from "./Launch.ts"
import { ServerLocks } from "./ServerLocks.ts"

/** Seconds for the end of the machine that runs, and some to spare. */
const toEnd = 15

const writes = withPolicy(anyScope("servers:write"))

/** Stops, starts and restarts deployed servers. 409 without a deployment, and while one is in progress. */
export class Lifecycle extends Effect.Service<Lifecycle>()("deployments/Lifecycle", {
  effect: Effect.gen(function*() {
    const servers = yield* Servers
    const logs = yield* ServerLogs
    const fleet = yield* FleetRepo
    const states = yield* ServerStates
    const launch = yield* Launch
    const drains = yield* Drains
    const locks = yield* ServerLocks
    const compute = yield* ComputeTime

    const log = ({ id }: ServerRow, message: string, level: LogLevel = "info") => logs.append(id, [{ level, message }])

    const overtaken = (serverId: string) =>
      Effect.flatMap(
        fleet.server(serverId),
        (server): Effect.Effect<never, DeploymentInProgress | ServerNotFound> =>
          Option.isNone(server) ? new ServerNotFound() : new DeploymentInProgress()
      )

    const happened = (server: ServerRow, event: "started" | "startFailed" | "stopped") =>
      Effect.flatMap(
        states.apply(server.id, server.generation, event),
        Option.match({ onNone: () => overtaken(server.id), onSome: servers.view })
      )

    type Happened = ReturnType<typeof happened>
    type Answer = Effect.Effect<
      Effect.Effect.Success<Happened>,
      Effect.Effect.Error<Happened> | NoRoom,
      Effect.Effect.Context<Happened>
    >

    const deployed = Effect.fn("Lifecycle.deployed")(function*(serverId: string) {
      if (yield* fleet.isInFlight(serverId)) return yield* new DeploymentInProgress()
      const deployment = yield* fleet.servingOf(serverId)
      return yield* Option.match(deployment, { onNone: () => new NotDeployed(), onSome: Effect.succeed })
    })

    /** The platform's fault: it changes nothing of what its owner wants. What should run is tried again by Revivals. */
    const noRoom = (server: ServerRow) =>
      Effect.zipRight(log(server, `Started by request, and failed: ${diskFull}`, "error"), new NoRoom())

    /** The returned server's status says whether it started. */
    const up = (server: ServerRow, deployment: DeploymentRow) =>
      launch.bringUp(server, deployment).pipe(
        Effect.zipRight(log(server, "Started by request")),
        Effect.matchEffect({
          onSuccess: () => happened(server, "started"),
          onFailure: ({ message }): Answer =>
            orDiskFull(message) === diskFull ? noRoom(server) : Effect.zipRight(
              log(server, `Started by request, and failed: ${message}`, "error"),
              happened(server, "startFailed")
            )
        })
      )

    const down = (server: ServerRow, deployment: DeploymentRow) =>
      launch.stop(deployment.id).pipe(
        Effect.zipRight(log(server, "Stopped by request")),
        // The status records the desired state, so the reconciler stops the machine later.
        Effect.catchAll(({ message }) => log(server, `The machine could not be stopped yet: ${message}`, "error"))
      )

    const change = <E, R>(
      name: string,
      check: Effect.Effect<void, E, R>,
      act: (server: ServerRow, deployment: DeploymentRow) => Answer
    ) =>
      Effect.fn(name)(function*(serverId: string) {
        const { id } = yield* servers.visible(serverId)
        yield* check
        const work = Effect.gen(function*() {
          const deployment = yield* deployed(id)
          const server = yield* fleet.server(id)
          return Option.isNone(server) ? yield* new ServerNotFound() : yield* act(server.value, deployment)
        })
        // A daemon, so that the work continues when the caller disconnects.
        return yield* Effect.forkDaemon(locks.withLock(id)(work)).pipe(Effect.flatMap(Fiber.join))
      }, writes)

    return {
      start: change("Lifecycle.start", compute.check, up),
      stop: change(
        "Lifecycle.stop",
        Effect.void,
        (server, deployment) =>
          Effect.zipLeft(
            happened(server, "stopped"),
            Effect.all([down(server, deployment), drains.stop(server.id)], { concurrency: "unbounded" })
          )
      ),
      restart: change(
        "Lifecycle.restart",
        compute.check,
        (server, deployment) =>
          states.restarting(server.id, server.generation, toEnd + server.healthTimeoutSeconds).pipe(
            Effect.zipRight(Effect.sleep(untilHeard)),
            Effect.zipRight(down(server, deployment)),
            Effect.zipRight(up(server, deployment))
          )
      )
    } as const
  })
}) {}
