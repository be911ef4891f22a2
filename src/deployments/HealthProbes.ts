import { CurrentSettings } from "#src/config/Settings.ts"
import { Machines } from "#src/machines/Machines.ts"
import { type ProbeResult, ServerHealth } from "#src/servers/ServerHealth.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Disk } from "#src/shared/Disk.ts"
import { quotable } from "#src/shared/outside-text.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { Chunk, Effect, Option, Stream } from "effect"
import { countProbe } from "./fleet-metrics.ts"
import { complaint, isNotFound } from "./health.ts"
import { HealthProbesRepo, type Target } from "./HealthProbesRepo.ts"
import { probe } from "./probe.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { Stopping } from "./Stopping.ts"

/** Milliseconds for one probe. */
const patience = 5_000
/** A probe that took so much longer than it may have met a platform that stood still. */
const slack = 2_000
const concurrency = 32
/** Results that are written together. */
const batch = 256
const longestFailure = 300

/** Why a probe does not count: what went wrong is no fault of the server. */
const uncounted = Symbol("uncounted")

/**
 * Probes the servers of businesses for their listings' health score (docs/decisions/health-score.md). A probe goes
 * straight to the machine: it wakes nobody and counts as nobody's request.
 */
export class HealthProbes extends Effect.Service<HealthProbes>()("deployments/HealthProbes", {
  effect: Effect.gen(function*() {
    const { healthProbeSeconds } = yield* CurrentSettings
    const machines = yield* Machines
    const repo = yield* HealthProbesRepo
    const health = yield* ServerHealth
    const events = yield* PlatformEvents
    const logs = yield* ServerLogs
    const locks = yield* ServerLocks
    const stopping = yield* Stopping
    const disk = yield* Disk

    const ask = Effect.fnUntraced(function*({ machine, notFoundIsAlive, path, port }: Target) {
      const state = yield* machines.inspect(machine)
      // A machine that vanished, or was not started yet, was not ended by itself.
      if (state === undefined || state.status === "created") return uncounted
      if (state.status === "exited") {
        // Without room on the disk the platform can't start it again.
        return (yield* disk.measure) === "low" ? uncounted : "is not reached: its machine has ended"
      }
      const began = performance.now()
      const result = yield* probe(state.address, port, path, patience)
      const problem = notFoundIsAlive && isNotFound(result) ? undefined : complaint(result, port)
      if (problem === undefined) return null
      return performance.now() - began > patience + slack ? uncounted : quotable(problem, longestFailure)
    })

    const result = Effect.fn("HealthProbes.probe")(function*(target: Target) {
      const { generation, path, serverId } = target
      // A driver that can't tell of its machines says nothing of them.
      const failure = yield* Effect.catchTag(ask(target), "MachineError", () => Effect.succeed(uncounted))
      const isPlatforms = failure === uncounted ||
        // Its owner restarts it, or everything is being shut down.
        failure !== null && (locks.isHeld(serverId) || (yield* stopping.isOn))
      yield* countProbe(isPlatforms ? "uncounted" : failure === null ? "good" : "bad")
      return isPlatforms ? Option.none() : Option.some({ serverId, generation, failure, path })
    })

    const tell = ({ failure, path, serverId }: { serverId: string; path: string; failure: string | null }) =>
      logs.append(serverId, [
        failure === null
          ? { level: "info", message: `Health probe: ${path} is good again` }
          : { level: "warn", message: `Health probe: ${path} ${failure}` }
      ])

    const write = Effect.fnUntraced(function*(results: ReadonlyArray<ProbeResult & Pick<Target, "path">>) {
      const changed = yield* health.record(results, healthProbeSeconds)
      const paths = new Map(results.map(({ path, serverId }) => [serverId, path]))
      yield* Effect.forEach(changed, (change) => tell({ ...change, path: paths.get(change.serverId) ?? "" }), {
        discard: true
      })
      yield* events.tell("probed", undefined)
    })

    /** One round: each server that is due once. */
    const run = Effect.fn("HealthProbes.run")(function*() {
      // What a crash left behind of the last round.
      yield* events.tell("probed", undefined)
      const due = yield* repo.due(healthProbeSeconds / 2)
      yield* Stream.fromIterable(due).pipe(
        Stream.mapEffect(result, { concurrency, unordered: true }),
        Stream.filterMap((probed) => probed),
        // Servers that hang keep nobody's result waiting.
        Stream.groupedWithin(batch, "1 second"),
        Stream.runForEach((results) => write(Chunk.toReadonlyArray(results)))
      )
    })

    return { interval: `${healthProbeSeconds} seconds`, run } as const
  })
}) {}
