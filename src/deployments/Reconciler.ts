import { Machines, type MachineState } from "#src/machines/Machines.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { mayHappen } from "#src/servers/transitions.ts"
import { diskFull } from "#src/shared/disk-full.ts"
import { machinesMost, shares, Shutdown } from "#src/shared/Shutdown.ts"
import { WorkflowEngine } from "@effect/workflow"
import { Effect, Option } from "effect"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { DeployWorkflow } from "./DeployWorkflow.ts"
import { countMachines } from "./fleet-metrics.ts"
import { FleetRepo, type Serving } from "./FleetRepo.ts"
import { awaitHealthy, healthRule } from "./HealthCheck.ts"
import { JournalRepo } from "./JournalRepo.ts"
import { Launch } from "./Launch.ts"
import { Leftovers } from "./Leftovers.ts"
import { MachineOutput } from "./MachineOutput.ts"
import { Pipeline } from "./Pipeline.ts"
import { Revivals } from "./Revivals.ts"
import { RoomWaits } from "./RoomWaits.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { Sleep } from "./Sleep.ts"
import { Stopping } from "./Stopping.ts"
import { isSettled, sourcesOf } from "./transitions.ts"

/** Reconciles what runs with what is recorded, after a crash, a restart, or the end of a machine. */
export class Reconciler extends Effect.Service<Reconciler>()("deployments/Reconciler", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* DeploymentsRepo
    const fleet = yield* FleetRepo
    const states = yield* ServerStates
    const journal = yield* JournalRepo
    const launch = yield* Launch
    const leftovers = yield* Leftovers
    const revivals = yield* Revivals
    const sleep = yield* Sleep
    const output = yield* MachineOutput
    const pipeline = yield* Pipeline
    const room = yield* RoomWaits
    const logs = yield* ServerLogs
    const locks = yield* ServerLocks
    const stopping = yield* Stopping
    const shutdown = yield* Shutdown
    const engine = yield* WorkflowEngine.WorkflowEngine

    const log = (serverId: string, level: LogLevel, message: string) => logs.append(serverId, [{ level, message }])

    /** Supervises the machines of active deployments: starts those that are down, unless they keep crashing. */
    const supervise = Effect.fn("Reconciler.supervise")(function*() {
      const active = yield* fleet.serving
      const states = new Map((yield* machines.list()).map((state) => [state.name, state]))
      yield* countMachines(states.values())
      revivals.keepOnly(new Set(active.map(({ id }) => id)))
      if (yield* stopping.isOn) return
      for (const { name, owner } of states.values()) yield* output.follow(name, owner)
      yield* Effect.forEach(active, (serving) => {
        const state = states.get(serving.id)
        return serving.serverStatus === "stopped" ? ensureStopped(serving, state) : revivals.check(serving, state)
      }, { concurrency: 4, discard: true })
    })

    /** Starts what served before, and waits until each machine is healthy or has failed. */
    const bringBack = Effect.fn("Reconciler.bringBack")(function*() {
      yield* supervise()
      const served = (yield* fleet.serving).filter(({ serverStatus }) => serverStatus === "running")
      const waitFor = Effect.fnUntraced(
        function*({ id, serverId }: Serving) {
          const server = Option.getOrUndefined(yield* repo.server(serverId))
          const deployment = Option.getOrUndefined(yield* fleet.servingOf(serverId))
          if (server === undefined || deployment?.id !== id) return
          yield* awaitHealthy(healthRule(server, deployment))
        },
        Effect.provideService(Machines, machines),
        Effect.ignore
      )
      yield* Effect.forEach(served, waitFor, { concurrency: 16, discard: true })
    })

    /** Completes a stop, of a server that fell asleep or one that the platform's own end interrupted. */
    const ensureStopped = ({ asleep, id, serverId }: Serving, state: MachineState | undefined) => {
      revivals.forget(id)
      if (asleep) return state?.status === "running" ? sleep.settle(serverId) : Effect.void
      return state?.status !== "running" ? Effect.void : Effect.gen(function*() {
        const server = yield* repo.server(serverId)
        if (Option.isSome(server) && server.value.status === "stopped") yield* machines.stop(id)
      }).pipe(locks.withLock(serverId), Effect.catchAll((error) => Effect.logWarning(error)))
    }

    /** Fails what is under way once the database has had no room for too long: a record takes less than the journal. */
    const failForRoom = Effect.fn("Reconciler.failForRoom")(function*() {
      if (!(yield* room.isTooLong)) return
      const failable = (yield* fleet.open).filter(({ stage }) => sourcesOf("failed").includes(stage))
      yield* Effect.forEach(failable, ({ id, serverId, stage }) => pipeline.fail(id, serverId, `${stage}: ${diskFull}`))
    })

    /** Starts open pipelines, which is idempotent; fails those whose workflow ended without settling the record. */
    const drive = Effect.fn("Reconciler.drive")(function*() {
      for (const { id, serverId } of yield* fleet.open) {
        const payload = { deploymentId: id, serverId }
        yield* DeployWorkflow.execute(payload, { discard: true })
        const executionId = yield* DeployWorkflow.executionId(payload)
        const result = yield* DeployWorkflow.poll(executionId)
        if (result?._tag !== "Complete") {
          yield* journal.deliverAgain(executionId)
          continue
        }
        const record = Option.getOrUndefined(yield* repo.find(id))
        if (record === undefined) continue
        if (isSettled(record.status)) yield* repo.enter(id, "retired")
        else yield* pipeline.fail(id, serverId, `${record.stage}: the platform lost track of the deployment`)
      }
    }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

    /**
     * Marks a server as recovered once its machine is healthy again: it was in error only because of crashes, or was
     * being brought back when the platform ended.
     */
    const recover = Effect.fn("Reconciler.recover")(
      function*({ id, serverId }: Serving) {
        const server = Option.getOrUndefined(yield* repo.server(serverId))
        const deployment = Option.getOrUndefined(yield* fleet.servingOf(serverId))
        if (server === undefined || !mayHappen("recovered", server.status) || deployment?.id !== id) return
        yield* awaitHealthy(healthRule({ ...server, healthTimeoutSeconds: 1 }, deployment))
        yield* states.apply(serverId, server.generation, "recovered")
        yield* log(serverId, "info", "The machine is healthy again")
      },
      (effect, { serverId }) =>
        effect.pipe(locks.withLock(serverId), Effect.provideService(Machines, machines), Effect.ignore)
    )

    const sweep = Effect.fn("Reconciler.sweep")(function*() {
      yield* failForRoom()
      yield* drive()
      const broken = (yield* fleet.serving).filter(({ failedByDeployment, serverStatus }) =>
        !failedByDeployment && mayHappen("recovered", serverStatus)
      )
      yield* Effect.forEach(broken, recover, { concurrency: 4, discard: true })
      const destroyed = yield* leftovers.ofAll()
      if (destroyed.length > 0) yield* Effect.logInfo(`Destroyed unused machines: ${destroyed.join(", ")}`)
    })

    /** For the shutdown of the process. The next process starts the same machines again. */
    const stopAll = Effect.fn("Reconciler.stopAll")(function*() {
      yield* stopping.begin
      const running = (yield* machines.list()).filter(({ status }) => status === "running")
      const graceSeconds = (yield* shutdown.remaining(shares.machines, machinesMost)) / 1000
      // Somebody else may be about to stop it, with more patience.
      const end = (name: string) =>
        Effect.flatMap(
          shutdown.within(shares.machines, machines.stop(name, graceSeconds), machinesMost),
          (inTime) => inTime ? Effect.void : machines.stop(name, 0)
        )
      const stop = (name: string) =>
        Effect.zipRight(end(name), shutdown.within(shares.output, launch.stop(name, 0))).pipe(
          Effect.catchAll((error) => Effect.logWarning(`${name} can't be stopped`, error))
        )
      yield* Effect.forEach(running, ({ name }) => stop(name), { concurrency: "unbounded", discard: true })
    })

    return { bringBack, supervise, sweep, stopAll, lookAt: revivals.lookAt } as const
  })
}) {}
