import { ImageError } from "#src/images/ImageError.ts"
import { Machines } from "#src/machines/Machines.ts"
import { isPackage } from "#src/packages/reference.ts"
import { ReadyImage } from "#src/ready-image/ReadyImage.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import { orDiskFull } from "#src/shared/disk-full.ts"
import { newId } from "#src/shared/ids.ts"
import { Clock, Data, Effect, FiberMap, Option, Schedule, Struct } from "effect"
import { makeBegin } from "./begin.ts"
import { DeploymentId, type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { FleetRepo } from "./FleetRepo.ts"
import { awaitHealthy, healthRule } from "./HealthCheck.ts"
import { Launch } from "./Launch.ts"
import { pauseBefore } from "./missing-image-rule.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { isSettled } from "./transitions.ts"

/** The deployment that should replace the lost one failed; the message is that deployment's. */
class NotReplaced extends Data.TaggedError("NotReplaced")<{ readonly message: string }> {}

/** Limits concurrent pulls: a restored installation may need hundreds. */
const pullsAtOnce = 4

interface Failed {
  readonly times: number
  /** Unix milliseconds. */
  readonly notBefore: number
  readonly reason: string
}

const isGone = (error: { readonly _tag: string }) => error instanceof ImageError && error.reason === "not_found"

/**
 * Recovers servers that should run but whose image is not on this host: the database was restored into an empty home,
 * or this host has taken over from another. It pulls each image again by its digest, in the background, so that the
 * supervision of all machines doesn't wait.
 */
export class MissingImages extends Effect.Service<MissingImages>()("deployments/MissingImages", {
  scoped: Effect.gen(function*() {
    const machines = yield* Machines
    const readyImage = yield* ReadyImage
    const logs = yield* ServerLogs
    const repo = yield* DeploymentsRepo
    const fleet = yield* FleetRepo
    const states = yield* ServerStates
    const launch = yield* Launch
    const locks = yield* ServerLocks
    const begin = yield* makeBegin
    const pullSlots = yield* Effect.makeSemaphore(pullsAtOnce)
    const pulls = yield* FiberMap.make<string>()
    const failures = new Map<string, Failed>()

    const log = (serverId: string, level: LogLevel, message: string) => logs.append(serverId, [{ level, message }])

    /** The server and its active deployment; undefined if they should not run (any longer). */
    const desired = Effect.fnUntraced(function*(id: string, serverId: string) {
      const server = Option.getOrUndefined(yield* repo.server(serverId))
      const deployment = Option.getOrUndefined(yield* fleet.servingOf(serverId))
      if (server === undefined || deployment?.id !== id || server.status === "stopped") return undefined
      return deployment.imageDigest === null ? undefined : { server, deployment, digest: deployment.imageDigest }
    })

    const happened = (id: string, serverId: string, event: "imageMissing" | "imageUnavailable" | "broughtBack") =>
      locks.withLock(serverId)(Effect.gen(function*() {
        const target = yield* desired(id, serverId)
        if (target !== undefined) yield* states.apply(serverId, target.server.generation, event)
        return target
      }))

    /** Whether the image was made here, of something that is still there. */
    const isMade = (imageUri: string) => readyImage.isLocalBuild(imageUri) || isPackage(imageUri)

    /**
     * Deploys what the platform makes now instead. The ready server gets all its data from the business, so any version
     * will do; a package gives another image where Node.js or this program is another.
     */
    const redeployMade = Effect.fn("MissingImages.deployMade")(function*(lost: DeploymentRow) {
      const { imageDigest, serverId } = lost
      const imageUri = isPackage(lost.imageUri) ? lost.imageUri : yield* readyImage.reference
      yield* log(serverId, "info", `The image ${imageDigest} can't be made again as it was: deploying it as it is now`)
      const { id } = yield* begin({
        id: DeploymentId.make(newId("dep")),
        serverId: serverId as DeploymentRow["serverId"],
        type: "deploy",
        imageUri,
        imageDigest: null,
        rollbackOf: null,
        scanResult: null,
        scanId: null,
        package: null,
        ...Struct.pick(lost, "args", "command", "transport", "processes", "packageScripts", "node"),
        freshDependencies: false
      })
      const ended = yield* Effect.repeat(repo.find(id), {
        until: Option.match({ onNone: () => true, onSome: ({ status }) => isSettled(status) }),
        schedule: Schedule.spaced("500 millis")
      }).pipe(Effect.zipRight(repo.find(id)))
      if (Option.isSome(ended) && ended.value.status === "failed") {
        return yield* new NotReplaced({ message: ended.value.errorMessage ?? "the deployment failed" })
      }
    })

    const start = Effect.fn("MissingImages.start")(function*(id: string, serverId: string) {
      const target = yield* locks.withLock(serverId)(Effect.gen(function*() {
        const target = yield* desired(id, serverId)
        if (target === undefined) return undefined
        yield* launch.startAgain(target.server, target.deployment)
        return target
      }))
      if (target === undefined) return
      yield* awaitHealthy(healthRule(target.server, target.deployment))
      yield* happened(id, serverId, "broughtBack")
      yield* log(serverId, "info", "The server is back")
    }, Effect.provideService(Machines, machines))

    const failed = Effect.fn("MissingImages.failed")(function*(
      id: string,
      serverId: string,
      error: { readonly _tag: string; readonly message: string }
    ) {
      const reason = orDiskFull(error.message)
      const before = failures.get(id)
      const times = (before?.times ?? 0) + 1
      // Each attempt to replace it creates a version of the server, so there is only one per start of the platform.
      const pause = error._tag === "NotReplaced" ? Infinity : pauseBefore(times)
      failures.set(id, { times, reason, notBefore: (yield* Clock.currentTimeMillis) + pause })
      if (before?.reason !== reason) yield* log(serverId, "error", `The server can't be brought back: ${reason}`)
      yield* happened(id, serverId, "imageUnavailable")
    })

    const bringBack = Effect.fn("MissingImages.bringBack")(
      function*(id: string, serverId: string) {
        // A server that failed before stays in error until it succeeds.
        const target = failures.has(id) ? yield* desired(id, serverId) : yield* happened(id, serverId, "imageMissing")
        if (target === undefined) return
        const { deployment, digest } = target
        if (!failures.has(id)) {
          yield* log(
            serverId,
            "info",
            `The image ${digest} is not on this host: getting it again from ${deployment.imageUri}`
          )
        }
        yield* pullSlots.withPermits(1)(launch.fetch(deployment, digest)).pipe(
          Effect.zipRight(start(id, serverId)),
          Effect.catchIf(
            (error) => isGone(error) && isMade(deployment.imageUri),
            () => redeployMade(deployment)
          )
        )
      },
      (effect, id, serverId) =>
        effect.pipe(
          Effect.zipRight(Effect.sync(() => failures.delete(id))),
          Effect.catchAll((error) => failed(id, serverId, error)),
          Effect.catchAllCause((cause) => Effect.logWarning(`Recovering the image of ${id} failed`, cause))
        )
    )

    return {
      /**
       * Recovers the deployment in the background if its image is missing; returns whether it does. The caller must not
       * start the machine then.
       */
      recovers: Effect.fn("MissingImages.seesTo")(function*(id: string, serverId: string) {
        if (yield* FiberMap.has(pulls, serverId)) return true
        const target = yield* desired(id, serverId)
        if (target === undefined || !(yield* launch.lacksImage(target.deployment))) return false
        const due = failures.get(id)?.notBefore ?? 0
        if ((yield* Clock.currentTimeMillis) >= due) yield* FiberMap.run(pulls, serverId, bringBack(id, serverId))
        return true
      })
    } as const
  })
}) {}
