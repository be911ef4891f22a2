import { Machines, type MachineState } from "#src/machines/Machines.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { diskFull, orDiskFull } from "#src/shared/disk-full.ts"
import { Clock, Effect, FiberMap, Metric, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { exitWords } from "./exit-words.ts"
import { crashes } from "./fleet-metrics.ts"
import { FleetRepo, type Serving } from "./FleetRepo.ts"
import { awaitHealthy, healthRule } from "./HealthCheck.ts"
import { Launch } from "./Launch.ts"
import { MissingImages } from "./MissingImages.ts"
import { Monitor } from "./Monitor.ts"
import {
  attempts,
  type Decision,
  rarePause,
  seenDown,
  seenRunning,
  waitingForRoom,
  type Watched
} from "./restart-policy.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { Stopping } from "./Stopping.ts"

const everyMinutes = rarePause / 60_000
/** Requests wait through a pause of so many milliseconds; in a longer one they are told at once. */
const longestHeld = 2_000
/** Seconds by which the look after such a pause may come later. */
const late = 5

const ending = (state: MachineState | undefined) => state === undefined ? "is gone" : exitWords(state.exitCode)

/**
 * Starts machines again that ended by themselves, unless they keep doing so. Requests wait meanwhile at the gateways
 * (docs/decisions/sleeping-servers.md, "The monitor").
 */
export class Revivals extends Effect.Service<Revivals>()("deployments/Revivals", {
  scoped: Effect.gen(function*() {
    const machines = yield* Machines
    const fleet = yield* FleetRepo
    const states = yield* ServerStates
    const launch = yield* Launch
    const missingImages = yield* MissingImages
    const monitor = yield* Monitor
    const logs = yield* ServerLogs
    const locks = yield* ServerLocks
    const stopping = yield* Stopping
    const returning = yield* FiberMap.make<string>()
    const scope = yield* Effect.scope
    const watched = new Map<string, Watched>()

    const log = (serverId: string, level: LogLevel, message: string) => logs.append(serverId, [{ level, message }])

    /** The server and its active deployment; undefined if its machine should not run (any longer). */
    const desired = Effect.fnUntraced(function*(id: string, serverId: string) {
      const server = Option.getOrUndefined(yield* fleet.server(serverId))
      const deployment = Option.getOrUndefined(yield* fleet.servingOf(serverId))
      if (server === undefined || deployment?.id !== id || server.status === "stopped") return undefined
      return { server, deployment }
    })

    const letGo = ({ generation, id }: ServerRow) => states.restarting(id, generation, 0)

    /**
     * Lets the requests go that wait, in the background, once the machine is healthy or has had its time. If it ends
     * meanwhile they wait on: then it has crashed once more.
     */
    const follow = (server: ServerRow, deployment: DeploymentRow) =>
      awaitHealthy(healthRule(server, deployment)).pipe(
        Effect.provideService(Machines, machines),
        Effect.ignore,
        Effect.zipRight(machines.inspect(deployment.id)),
        Effect.flatMap((state) =>
          state?.status === "running"
            ? locks.withLock(server.id)(letGo(server))
            : Effect.forkIn(Effect.suspend(() => lookAt(server.id)), scope)
        ),
        Effect.catchAllCause((cause) =>
          Effect.logWarning(`Requests to ${server.slug} wait longer than they must`, cause)
        ),
        (work) => FiberMap.run(returning, server.id, work)
      )

    /** Whoever let requests wait for the machine has ended: the process, or the request for a restart. */
    const goOn = Effect.fn("Revivals.goOn")(
      function*(id: string, serverId: string) {
        const target = yield* desired(id, serverId)
        if (target !== undefined) yield* follow(target.server, target.deployment)
      },
      Effect.catchAllCause((cause) => Effect.logWarning("Requests wait longer than they must", cause))
    )

    const startAgain = (server: ServerRow, deployment: DeploymentRow) =>
      states.restarting(server.id, server.generation, server.healthTimeoutSeconds + late).pipe(
        Effect.zipRight(launch.startAgain(server, deployment)),
        Effect.tapError(() => letGo(server)),
        Effect.zipRight(follow(server, deployment))
      )

    /** Checks again that the machine should run. */
    const revive = Effect.fn("Revivals.revive")(function*(
      id: string,
      serverId: string,
      decision: Extract<Decision, { _tag: "Start" | "Try" }>
    ) {
      const target = yield* desired(id, serverId)
      const state = yield* machines.inspect(id)
      if (target === undefined || state?.status === "running") return
      const isFirst = decision._tag === "Start" && decision.attempt === 0
      const as = isFirst
        ? `, as it ran before${state?.exitCode == null ? "" : `: it ${ending(state)}`}`
        : decision._tag === "Try"
        ? `, as every ${everyMinutes} minutes since it was given up`
        : ` (attempt ${decision.attempt} of ${attempts})`
      yield* log(serverId, isFirst ? "info" : "warn", `Starting the machine again${as}`)
      yield* startAgain(target.server, target.deployment)
    })

    /** After a crash, until the next start. */
    const pause = Effect.fn("Revivals.pause")(function*(id: string, serverId: string, millis: number) {
      yield* FiberMap.remove(returning, serverId)
      const target = yield* desired(id, serverId)
      if (target === undefined) return
      const { generation } = target.server
      const told = millis > longestHeld
        ? states.pausing(serverId, generation, millis / 1000)
        : states.restarting(serverId, generation, millis / 1000 + late)
      yield* told
    })

    const giveUp = Effect.fn("Revivals.giveUp")(function*(id: string, serverId: string) {
      const target = yield* desired(id, serverId)
      if (target === undefined) return
      yield* FiberMap.remove(returning, serverId)
      yield* log(
        serverId,
        "error",
        `The machine ended again after each of ${attempts} attempts: it is started again every ${everyMinutes} minutes ` +
          "until it stays; fix it and deploy, or restart the server"
      )
      yield* states.apply(serverId, target.server.generation, "crashed")
    })

    const isDown = Effect.fn("Revivals.isDown")(function*(id: string, serverId: string) {
      // Whoever held the lock until now may have started it.
      const state = yield* machines.inspect(id)
      if (state?.status === "running") return
      const now = yield* Clock.currentTimeMillis
      const wasSilent = monitor.isSilent(id)
      monitor.forget(id)
      if (yield* missingImages.recovers(id, serverId)) return
      const before = watched.get(id)
      const [after, decision] = seenDown(before, now, wasSilent)
      watched.set(id, after)
      const hasCrashed = before !== undefined && after.crashes > before.crashes
      if (hasCrashed) {
        yield* Metric.increment(crashes)
        yield* log(serverId, "error", `The machine ${ending(state)}`)
      }
      if (decision._tag === "Start" || decision._tag === "Try") return yield* revive(id, serverId, decision)
      if (decision._tag === "GiveUp") return yield* giveUp(id, serverId)
      if (hasCrashed) yield* pause(id, serverId, after.notBefore - now)
    }, (effect, id, serverId) =>
      effect.pipe(
        locks.withLock(serverId),
        Effect.catchAll((error) =>
          Effect.gen(function*() {
            const reason = orDiskFull(error.message)
            // A full disk is the platform's fault: it doesn't count as a crash, and is retried until there is room.
            if (reason === diskFull) watched.set(id, waitingForRoom(yield* Clock.currentTimeMillis))
            yield* log(serverId, "error", `The machine can't be started: ${reason}`)
          })
        )
      ))

    const lookAt: (serverId: string) => Effect.Effect<void> = Effect.fn("Revivals.lookAt")(
      function*(serverId) {
        const serving = Option.getOrUndefined(yield* fleet.servingAt(serverId))
        if (serving === undefined || serving.serverStatus === "stopped" || (yield* stopping.isOn)) return
        if ((yield* machines.inspect(serving.id))?.status !== "running") yield* isDown(serving.id, serverId)
      },
      (effect, serverId) =>
        Effect.catchAllCause(effect, (cause) => Effect.logWarning(`Looking at ${serverId} failed`, cause))
    )

    const forget = (id: string) => {
      watched.delete(id)
      monitor.forget(id)
    }

    return {
      /** Of a machine that should run. */
      check: Effect.fn("Revivals.check")(function*(serving: Serving, state: MachineState | undefined) {
        const { id, serverId } = serving
        if (state?.status !== "running") return yield* isDown(id, serverId)
        watched.set(id, seenRunning(watched.get(id), yield* Clock.currentTimeMillis, monitor.isSilent(id)))
        yield* monitor.watch(serving, state)
        if (serving.held && !(yield* FiberMap.has(returning, serverId)) && !locks.isHeld(serverId)) {
          yield* goOn(id, serverId)
        }
      }),
      /** A gateway does not reach the server's machine. */
      lookAt,
      /** The machine should not run, or is another's: one of that name begins anew. */
      forget,
      keepOnly: (ids: ReadonlySet<string>) => {
        for (const id of [...watched.keys(), ...monitor.watched()]) if (!ids.has(id)) forget(id)
      }
    } as const
  })
}) {}
