import { Machines } from "#src/machines/Machines.ts"
import { periodRefusal } from "#src/plans/PlanLimitReached.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { diskFull, orDiskFull } from "#src/shared/disk-full.ts"
import { type Statement } from "@effect/sql"
import { Clock, Duration, Effect, FiberMap, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { Drains } from "./Drains.ts"
import { exitWords, killed } from "./exit-words.ts"
import { countWake } from "./fleet-metrics.ts"
import { FleetRepo } from "./FleetRepo.ts"
import { Launch } from "./Launch.ts"
import { attempts, longestPause, pauseAfter } from "./restart-policy.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { SleepRepo } from "./SleepRepo.ts"
import { Stopping } from "./Stopping.ts"

/**
 * Milliseconds for which the database must have answered before a server is put to sleep: gateways that could not tell
 * that they are alive, and what they have open, do so by then.
 */
const steadyFor = 30_000
/** Milliseconds between two looks after which the process, or its lease, stood still. */
const longestGap = 15_000

/** Puts servers to sleep that nobody uses, and wakes those that are asked for (docs/decisions/sleeping-servers.md). */
export class Sleep extends Effect.Service<Sleep>()("deployments/Sleep", {
  scoped: Effect.gen(function*() {
    const machines = yield* Machines
    const deployments = yield* DeploymentsRepo
    const fleet = yield* FleetRepo
    const repo = yield* SleepRepo
    const states = yield* ServerStates
    const launch = yield* Launch
    const drains = yield* Drains
    const logs = yield* ServerLogs
    const locks = yield* ServerLocks
    const stopping = yield* Stopping
    const waking = yield* FiberMap.make<string>()
    const settling = yield* FiberMap.make<string>()
    let steadySince = yield* Clock.currentTimeMillis
    let lookedAt = performance.now()

    const log = (serverId: string, level: LogLevel, message: string) => logs.append(serverId, [{ level, message }])
    const isSteady = Effect.map(
      Clock.currentTimeMillis,
      (now) => now - steadySince >= steadyFor && performance.now() - lookedAt < longestGap
    )
    const beginAgain = Effect.map(Clock.currentTimeMillis, (now) => void (steadySince = now))

    /** The server while it sleeps, with the deployment that it serves when it is awake. */
    const sleeping = Effect.fnUntraced(function*(serverId: string) {
      const server = Option.getOrUndefined(yield* deployments.server(serverId))
      const deployment = Option.getOrUndefined(yield* fleet.servingOf(serverId))
      if (server?.asleepAt == null || deployment?.id !== server.activeDeploymentId) return undefined
      return { server, deployment }
    })

    const putToSleep = (serverId: string, generation: number, condition: Statement.Fragment, why: string) =>
      Effect.gen(function*() {
        const slept = yield* states.fallAsleep(serverId, generation, condition)
        if (Option.isSome(slept)) yield* log(serverId, "info", why)
        return Option.isSome(slept)
      }).pipe(locks.withLock(serverId))

    /** Those of accounts whose machine time of the period is used up, used or not. */
    const fallAsleepSpent = Effect.gen(function*() {
      for (const { generation, plan, serverId, spent } of yield* repo.spent) {
        if (spent === null || locks.isHeld(serverId)) continue
        const { message } = periodRefusal("computeSecondsPerMonth", plan, spent.used, spent.resetsAt)
        if (yield* putToSleep(serverId, generation, repo.isSpent, `${message}. Asleep until then`)) {
          yield* drains.stop(serverId)
        }
      }
    })

    /** Puts those to sleep that nobody used for their time. Their machines are stopped by `settle`. */
    const fallAsleep = Effect.gen(function*() {
      const idle = yield* Effect.timeout(repo.idle, "5 seconds")
      if (performance.now() - lookedAt >= longestGap) yield* beginAgain
      lookedAt = performance.now()
      if (!(yield* isSteady) || (yield* stopping.isOn)) return
      // One that is being started or stopped keeps the others waiting for no longer than it must: it has its next turn.
      const free = idle.filter(({ serverId }) => !locks.isHeld(serverId))
      yield* Effect.forEach(free, ({ autoStopSeconds, generation, serverId }) => {
        const why = `Idle for ${autoStopSeconds} seconds: asleep until the next request`
        return putToSleep(serverId, generation, repo.isIdle, why)
      }, { discard: true })
      yield* fallAsleepSpent
    }).pipe(
      Effect.tapErrorCause(() => beginAgain),
      Effect.withSpan("Sleep.fallAsleep")
    )

    const started = Effect.fnUntraced(function*(server: ServerRow, deployment: DeploymentRow) {
      const [took] = yield* Effect.timed(launch.bringUp(server, deployment))
      const awake = yield* states.apply(server.id, server.generation, "woke")
      if (Option.isNone(awake)) return
      yield* countWake("woken")
      const seconds = (Duration.toMillis(took) / 1000).toFixed(2)
      yield* log(server.id, "info", `Woken: healthy after ${seconds} s`)
    })

    /** For whoever sent the request: how its machine ended, and nothing that the machine wrote. */
    const problemOf = Effect.fnUntraced(function*({ healthTimeoutSeconds }: ServerRow, machine: string) {
      const state = yield* Effect.orElseSucceed(machines.inspect(machine), () => undefined)
      return state?.status === "running"
        ? `it was not healthy within ${healthTimeoutSeconds} seconds`
        : state?.status === "exited" && state.exitCode !== null
        ? `it ${exitWords(state.exitCode)} before it was healthy`
        : "its machine can't be started"
    })

    /** Whether something else ended it: then it is started again at once, like one that crashed for the first time. */
    const wasKilled = (machine: string) =>
      Effect.match(machines.inspect(machine), {
        onFailure: () => false,
        onSuccess: (state) => state?.status === "exited" && (state.exitCode === null || state.exitCode === killed)
      })

    const failed = Effect.fn("Sleep.failed")(
      function*(server: ServerRow, { id }: DeploymentRow, error: { readonly message: string }) {
        const reason = orDiskFull(error.message)
        const problem = yield* problemOf(server, id)
        // What was deployed, or decided by hand, meanwhile has the word.
        if ((yield* sleeping(server.id))?.server.generation !== server.generation) return
        yield* Effect.ignore(launch.stop(id, 0))
        yield* countWake("failed")
        yield* log(server.id, "error", `A request woke it, and it can't be started: ${reason}`)
        // A full disk is the platform's fault: it doesn't count, and is tried again until there is room.
        const failures = reason === diskFull ? server.wakeFailures : server.wakeFailures + 1
        if (failures > attempts) {
          yield* states.apply(server.id, server.generation, "wakeGivenUp")
          const message = `It could not be woken ${attempts + 1} times in a row, and is not tried again; ` +
            "fix it and deploy, or start the server"
          return yield* log(server.id, "error", message)
        }
        const pause = reason === diskFull ? longestPause : pauseAfter(failures)
        yield* states.wakeFailed(server.id, server.generation, {
          failures,
          problem: reason === diskFull ? "the platform's disk is full" : problem,
          retrySeconds: pause / 1000
        })
      }
    )

    const wakeNow = Effect.fn("Sleep.wake")(function*(serverId: string) {
      if (yield* stopping.isOn) return
      const asleep = yield* sleeping(serverId)
      if (asleep === undefined) return
      if ((yield* repo.quiet(serverId)).spent) return
      const { deployment, server } = asleep
      // Getting it again takes longer than a request waits.
      if (yield* launch.lacksImage(deployment)) {
        return yield* Effect.asVoid(states.apply(serverId, server.generation, "wokeWithoutImage"))
      }
      yield* started(server, deployment).pipe(
        Effect.retry({ times: server.wakeFailures === 0 ? 1 : 0, while: () => wasKilled(deployment.id) }),
        Effect.catchAll((error) => failed(server, deployment, error))
      )
    })

    /** Wakes a server that sleeps, once for all who ask. */
    const wake = (serverId: string) =>
      FiberMap.run(
        waking,
        serverId,
        wakeNow(serverId).pipe(
          locks.withLock(serverId),
          Effect.catchAllCause((cause) => Effect.logWarning(`Waking ${serverId} failed and is tried again`, cause))
        ),
        { onlyIfMissing: true }
      ).pipe(Effect.asVoid)

    /**
     * Stops the machine of a server that fell asleep, when each gateway has told that it sends nothing there any more;
     * a request that came in between wakes it instead, and finds its machine as it was.
     */
    const settleNow = Effect.fn("Sleep.settle")(function*(serverId: string) {
      const asleep = yield* sleeping(serverId)
      if (asleep === undefined || !(yield* isSteady)) return
      const { heard, spent, used } = yield* repo.quiet(serverId)
      if (used && !spent) return yield* wakeNow(serverId)
      if (heard) yield* launch.stop(asleep.deployment.id)
    })

    return {
      fallAsleep,
      wake,
      /** In the background, since a machine may take its time to end. */
      settle: (serverId: string) =>
        FiberMap.run(
          settling,
          serverId,
          settleNow(serverId).pipe(
            locks.withLock(serverId),
            Effect.catchAllCause((cause) => Effect.logWarning(`Stopping ${serverId} failed and is tried again`, cause))
          ),
          { onlyIfMissing: true }
        ).pipe(Effect.asVoid),
      /** Wakes those that are asked for, in case a call was missed. */
      wakeWanted: Effect.flatMap(repo.wanted, Effect.forEach(({ serverId }) => wake(serverId), { discard: true }))
    } as const
  })
}) {}
