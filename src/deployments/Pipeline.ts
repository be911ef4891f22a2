import { CurrentSettings } from "#src/config/Settings.ts"
import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Images, ResolvedImage } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { isPackage } from "#src/packages/reference.ts"
import { Routes } from "#src/routing/Routes.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { megabytes } from "#src/shared/bytes.ts"
import { diskFull, failedOnFullDisk, isDiskFull, orDiskFull } from "#src/shared/disk-full.ts"
import { Disk } from "#src/shared/Disk.ts"
import { isRejected, reportOutage } from "#src/shared/outage.ts"
import { quotable } from "#src/shared/outside-text.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { Cause, Effect, Metric, Option, Schema } from "effect"
import { Admission } from "./Admission.ts"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { deployed, failed } from "./fleet-metrics.ts"
import { ImageQuota } from "./ImageQuota.ts"
import { Launch } from "./Launch.ts"
import { Leftovers } from "./Leftovers.ts"
import { MachineOutput } from "./MachineOutput.ts"
import { Mirroring } from "./Mirroring.ts"
import { OutcomesRepo } from "./OutcomesRepo.ts"
import { makeHolder, makePullLogin } from "./pull-login.ts"
import { reportCopying } from "./report-copying.ts"
import { makeResolveImage } from "./resolve-image.ts"
import { makeScanImage } from "./scan-image.ts"
import { Gone, StageFailed } from "./StageFailed.ts"
import { throughOutage } from "./through-outage.ts"
import { isSettled, rules, type Stage as StageName } from "./transitions.ts"
import { makeUntilGone } from "./until-gone.ts"
import { Watch } from "./Watch.ts"

/** The result of `resolving`, for later stages. `resolved` is null for a rollback, which uses the stored image. */
export const Source = Schema.Struct({ digest: Schema.String, resolved: Schema.NullOr(ResolvedImage) })
export type Source = typeof Source.Type

const internalError = "an internal error of the platform"

/** The work of each stage. Stages are idempotent, because an interrupted pipeline repeats its last one. */
export class Pipeline extends Effect.Service<Pipeline>()("deployments/Pipeline", {
  effect: Effect.gen(function*() {
    const { drainSeconds } = yield* CurrentSettings
    const repo = yield* DeploymentsRepo
    const outcomes = yield* OutcomesRepo
    const disk = yield* Disk
    const images = yield* Images
    const loginOf = yield* makePullLogin
    const holderOf = yield* makeHolder
    const resolveImage = yield* makeResolveImage
    const scanImage = yield* makeScanImage
    const machines = yield* Machines
    const launch = yield* Launch
    const mirroring = yield* Mirroring
    const admission = yield* Admission
    const output = yield* MachineOutput
    const leftovers = yield* Leftovers
    const quota = yield* ImageQuota
    const cleanup = yield* ImageCleanup
    const logs = yield* ServerLogs
    const watch = yield* Watch
    const events = yield* PlatformEvents
    const routes = yield* Routes
    const gone = yield* makeUntilGone

    /** Machines that this process has started: not started again, so that the health check reports their exit. */
    const started = new Set<string>()

    const log = ({ serverId, version }: DeploymentRow, message: string, level: LogLevel = "info") =>
      logs.append(serverId, [{ level, message: `Deployment ${version}: ${message}` }])

    /** Shown as its progress until the next stage. */
    const doing = ({ id }: DeploymentRow, line: string) =>
      Effect.zipRight(repo.note(id, quotable(line.charAt(0).toUpperCase() + line.slice(1))), watch.changed(id))

    const orGone = <A>(read: Effect.Effect<Option.Option<A>>): Effect.Effect<A, Gone> =>
      Effect.flatMap(read, Option.match({ onNone: () => new Gone(), onSome: (value) => Effect.succeed(value) }))

    /** Writes the stage before its work; fails with `Gone` when the deployment no longer exists or has ended. */
    const enter = Effect.fn("Pipeline.enter")(function*(id: string, stage: StageName) {
      const record = yield* orGone(repo.enter(id, stage))
      yield* watch.changed(id)
      return record
    })

    const serverOf = (record: DeploymentRow) => orGone(repo.server(record.serverId))

    const resolve = Effect.fn("Pipeline.resolve")(function*(record: DeploymentRow) {
      if (record.type === "rollback" && record.imageDigest !== null) {
        yield* log(record, `rolling back with the stored image ${record.imageDigest}`)
        return { digest: record.imageDigest, resolved: null } satisfies Source
      }
      const resolved = yield* resolveImage(record, (line) => Effect.zipRight(log(record, line), doing(record, line)))
      yield* log(record, `the image is ${resolved.digest} (${megabytes(resolved.totalSize)})`)
      return { digest: resolved.digest, resolved } satisfies Source
    })

    const mirror = Effect.fn("Pipeline.mirror")(function*(record: DeploymentRow, { digest, resolved }: Source) {
      if (resolved === null) return
      yield* quota.admit(yield* serverOf(record), record, digest, resolved.totalSize)
      const stored = yield* images.has(digest)
      yield* log(record, stored ? "the image is in the store already" : "copying the image into the store")
      const holder = yield* holderOf(record)
      if (stored && holder === undefined) return
      if (!stored) yield* disk.check
      if (isPackage(record.imageUri)) return yield* launch.fetch(record, digest)
      yield* images.mirror(
        resolved,
        yield* loginOf(record),
        yield* reportCopying((message) => log(record, message)),
        holder
      )
    })

    /** A scanner reads the image from the store, so it is copied before it is known whether it is refused. */
    const scan = (record: DeploymentRow, source: Source) =>
      scanImage(record, source.digest, mirror(record, source), { log, doing })

    /** Copies the image from the store to the operator's registry, where there is one. */
    const push = (record: DeploymentRow, { digest }: Source) =>
      mirroring.push(record, digest, {
        log: (message) => log(record, message),
        doing: (line) => doing(record, line)
      })

    /** Returns the server's generation, with which the swap detects any later change of the server. */
    const create = Effect.fn("Pipeline.create")(function*(record: DeploymentRow, { digest, resolved }: Source) {
      const server = yield* serverOf(record)
      // A rollback adds nothing to the quota: its image is stored already.
      if (record.type === "deploy") {
        yield* quota.unpacked(server, record, digest, (most) => launch.unpack(record, digest, resolved, most))
      }
      yield* log(record, `creating a machine (${server.cpu}, ${server.memoryMb} MB, ${machines.driver.name})`)
      yield* launch.provision(server, record, digest, resolved)
      return server.generation
    })

    const start = Effect.fn("Pipeline.start")(function*(record: DeploymentRow) {
      yield* log(record, "starting the machine")
      started.add(record.id)
      yield* launch.start(record.serverId, record.id)
    })

    const check = Effect.fn("Pipeline.check")(function*(record: DeploymentRow) {
      const server = yield* serverOf(record)
      // The machine may have stopped together with the platform. Starting one that runs changes nothing.
      if (!started.has(record.id)) yield* launch.start(record.serverId, record.id)
      yield* admission.check(server, record)
    })

    const swap = Effect.fn("Pipeline.swap")(function*(id: string, serverId: string, generation: number) {
      const { slug } = yield* orGone(repo.server(serverId))
      const outcome = yield* outcomes.swap(id, serverId, generation, drainSeconds)
      if (outcome === "gone") return yield* new Gone()
      // Not when the database says so: whoever is told that the new version runs reaches it with the next request.
      if (outcome === "swapped") routes.changed(slug)
      if (outcome === "overtaken") {
        return yield* new StageFailed({ stage: "checking", cause: "the server was changed by another deployment" })
      }
      yield* Effect.all([Metric.increment(deployed), events.tell("deployed", serverId), watch.changed(id)])
      yield* Effect.flatMap(orGone(repo.find(id)), (record) => log(record, "running; requests go to the new machine"))
    }, throughOutage())

    const swapped = (id: string, serverId: string, generation: number) => watch.ends(id, swap(id, serverId, generation))

    /** Destroys the machine of a deployment that has failed; never one that serves or may still serve. */
    const discard = Effect.fn("Pipeline.discard")(
      function*(id: string) {
        started.delete(id)
        const record = yield* repo.find(id)
        if (Option.isSome(record) && (record.value.active || record.value.stage !== "failed")) return
        yield* launch.destroy(id, 0)
        yield* cleanup.request
      },
      Effect.catchTag("MachineError", (error) => Effect.logWarning("A machine was left for the reconciler", error)),
      throughOutage()
    )

    /** The last step: destroys what else the server needs no longer. */
    const retire = Effect.fn("Pipeline.retire")(
      function*(id: string, serverId: string) {
        started.delete(id)
        yield* leftovers.ofServer(serverId)
        yield* cleanup.request
        yield* enter(id, "retired")
      },
      Effect.catchTag("MachineError", (error) => Effect.logWarning("Old machines were left for the reconciler", error)),
      throughOutage()
    )

    const record = Effect.fn("Pipeline.record")(function*(id: string, serverId: string, message: string) {
      const ended = yield* outcomes.fail(id, serverId, message)
      if (Option.isSome(ended)) {
        const kept = ended.value.stage === "kept"
        yield* Metric.increment(failed)
        yield* log(ended.value, `failed: ${message}${kept ? "; its machine is kept for its logs" : ""}`, "error")
      }
    })

    const fail = Effect.fn("Pipeline.fail")(function*(id: string, serverId: string, message: string) {
      yield* output.caughtUp(id)
      yield* record(id, serverId, quotable(yield* logs.masked(serverId, message))).pipe(
        Effect.tapErrorCause((cause) =>
          Effect.logWarning(
            `The failure of deployment ${id} can't be recorded`,
            failedOnFullDisk(cause) ? diskFull : cause
          )
        ),
        // If the database rejects the message, record the failure with a plain one, so that the deployment ends.
        Effect.catchSomeCause((cause) =>
          isRejected(cause)
            ? Option.some(record(id, serverId, `${/^\w+/.exec(message)?.[0] ?? "failed"}: ${internalError}`))
            : Option.none()
        )
      )
      yield* watch.changed(id)
      yield* discard(id)
    })

    /** Runs a stage: writes it, does its work, and turns any error into one sentence. */
    const stage = <A, E extends { readonly message: string }>(
      id: string,
      name: StageName,
      work: (record: DeploymentRow) => Effect.Effect<A, E>
    ): Effect.Effect<A, StageFailed | Gone> =>
      enter(id, name).pipe(
        Effect.flatMap((record) =>
          isSettled(rules[name].status) ? work(record) : Effect.raceFirst(work(record), gone(id))
        ),
        Effect.mapError((error) =>
          error instanceof Gone || error instanceof StageFailed
            ? error
            : new StageFailed({ stage: name, cause: orDiskFull(error.message) })
        ),
        throughOutage(),
        Effect.catchAllDefect((defect) =>
          isDiskFull(defect)
            ? Effect.zipRight(reportOutage(defect), new StageFailed({ stage: name, cause: diskFull }))
            : Effect.zipRight(
              Effect.logError(`Deployment ${id} met a defect in ${name}`, Cause.die(defect)),
              new StageFailed({ stage: name, cause: internalError })
            )
        )
      )

    return { resolve, scan, mirror, push, create, start, check, swap: swapped, retire, discard, fail, stage } as const
  })
}) {}
