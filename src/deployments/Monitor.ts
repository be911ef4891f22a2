import { Machines, type MachineState } from "#src/machines/Machines.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { Clock, Effect, FiberMap, Metric, Option, Random } from "effect"
import { silences } from "./fleet-metrics.ts"
import { FleetRepo, type Serving } from "./FleetRepo.ts"
import { complaint, type Probe } from "./health.ts"
import { Launch } from "./Launch.ts"
import { isDead, isDoubtful, type Liveness, mostSilent, probed, watchedFrom } from "./liveness-rule.ts"
import { probe } from "./probe.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { Stopping } from "./Stopping.ts"

/** Milliseconds for one probe, and until one that was not answered is repeated. */
const patience = 4_000
const gap = 500
/** A probe that took so much longer than it may have met a platform that stood still. */
const slack = 2_000
const probesAtOnce = 32
/** Seconds that a machine that hangs has to end by itself. */
const grace = 2
/** Seconds until one that is asked for the last time was ended, and starts again. */
const untilBack = 10

/**
 * Asks running machines for a sign of life, and ends those that hang: from then on they are like any that crashed, and
 * the reconciler starts them again (docs/decisions/sleeping-servers.md, "The monitor"). Any answer is one, an error
 * too: to start a machine again mends no failure that it can tell of.
 */
export class Monitor extends Effect.Service<Monitor>()("deployments/Monitor", {
  scoped: Effect.gen(function*() {
    const machines = yield* Machines
    const fleet = yield* FleetRepo
    const launch = yield* Launch
    const logs = yield* ServerLogs
    const states = yield* ServerStates
    const locks = yield* ServerLocks
    const stopping = yield* Stopping
    const slots = yield* Effect.makeSemaphore(probesAtOnce)
    const probing = yield* FiberMap.make<string>()
    const known = new Map<string, Liveness>()

    /** Under the server's lock, when the machine should still run. */
    const end = Effect.fn("Monitor.end")(function*({ id, serverId }: Serving, last: Probe, port: number) {
      const server = Option.getOrUndefined(yield* fleet.server(serverId))
      if (server?.activeDeploymentId !== id || server.status === "stopped") return
      if ((yield* machines.inspect(id))?.status !== "running") return
      const message = `The machine ${
        complaint(last, port) ?? "did not answer"
      }, ${mostSilent} times in a row: ending it`
      yield* logs.append(serverId, [{ level: "error", message }])
      yield* Metric.increment(silences)
      yield* launch.stop(id, grace)
    })

    /** Whether gateways send requests there. */
    const recommend = Effect.fn("Monitor.recommend")(function*({ id, serverId }: Serving, isGood: boolean) {
      const server = Option.getOrUndefined(yield* fleet.server(serverId))
      if (server?.activeDeploymentId !== id || server.status !== "running") return
      const { generation } = server
      yield* isGood
        ? states.restarting(serverId, generation, 0)
        : states.pausing(serverId, generation, untilBack)
    })

    const ask = Effect.fn("Monitor.probe")(function*(serving: Serving, { address }: MachineState, before: Liveness) {
      const { healthPath, healthTimeoutSeconds, held, id, port, serverId, serverStatus } = serving
      const isAwaited = held || serverStatus !== "running"
      const began = performance.now()
      const result = yield* probe(address, port, healthPath, patience)
      const isAnswer = result._tag === "Answered"
      // Nobody's fault: the platform stood still, or somebody starts or stops the machine.
      const isUncounted = !isAnswer &&
        (performance.now() - began > patience + slack || locks.isHeld(serverId) || (yield* stopping.isOn))
      const now = yield* Clock.currentTimeMillis
      const random = yield* Random.next
      const state = isUncounted
        ? watchedFrom(now, random)
        : probed(before, isAnswer, now, { healthTimeoutSeconds, isAwaited, random })
      if (!known.has(id)) return
      known.set(id, state)
      if (isDead(state)) return yield* locks.withLock(serverId)(end(serving, result, port))
      const isSilent = state.silent > 0
      if (isDoubtful(state) || isDoubtful(before) && !isSilent) yield* recommend(serving, !isSilent)
      return isSilent ? state : undefined
    })

    /** Until it answers, or has ended. */
    const askAgain = Effect.fn("Monitor.ask")(function*(serving: Serving, machine: MachineState, before: Liveness) {
      let silent = yield* slots.withPermits(1)(ask(serving, machine, before))
      while (silent !== undefined) {
        yield* Effect.sleep(gap)
        silent = yield* slots.withPermits(1)(ask(serving, machine, silent))
      }
    })

    return {
      /** Called every few seconds for each machine that runs and should: asks it, in the background, when it is time. */
      watch: Effect.fn("Monitor.watch")(function*(serving: Serving, state: MachineState) {
        const { id } = serving
        const now = yield* Clock.currentTimeMillis
        const liveness = known.get(id)
        if (liveness === undefined) return void known.set(id, watchedFrom(now, yield* Random.next))
        if (now < liveness.nextAt) return
        const asking = askAgain(serving, state, liveness).pipe(
          Effect.catchAllCause((cause) => Effect.logWarning(`Looking after ${id} failed and is tried again`, cause))
        )
        yield* FiberMap.run(probing, id, asking, { onlyIfMissing: true })
      }),
      /** The machine ended, or was replaced: one of that name begins anew. */
      forget: (id: string) => void known.delete(id),
      /** Whether it has not answered yet, or no longer does: then it has not settled. */
      isSilent: (id: string) => {
        const liveness = known.get(id)
        return liveness !== undefined && liveness.answersSince === undefined
      },
      watched: () => known.keys()
    } as const
  })
}) {}
