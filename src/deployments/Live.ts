import { Refusals } from "#src/egress/Refusals.ts"
import { HostLease } from "#src/hosts/HostLease.ts"
import { Jobs } from "#src/jobs/Jobs.ts"
import { Environment } from "#src/servers/Environment.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { MachineMetering } from "#src/usage/MachineMetering.ts"
import { Effect, Fiber, Layer, Option } from "effect"
import { Admission } from "./Admission.ts"
import { Deployments } from "./Deployments.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { DeployWorkflowLive } from "./DeployWorkflow.ts"
import { Drains } from "./Drains.ts"
import { DrainsRepo } from "./DrainsRepo.ts"
import { EngineLive } from "./Engine.ts"
import { FleetRepo } from "./FleetRepo.ts"
import { Handshakes } from "./Handshakes.ts"
import { HandshakesRepo } from "./HandshakesRepo.ts"
import { HealthProbes } from "./HealthProbes.ts"
import { HealthProbesRepo } from "./HealthProbesRepo.ts"
import { ImageQuota } from "./ImageQuota.ts"
import { JournalRepo } from "./JournalRepo.ts"
import { Launch } from "./Launch.ts"
import { Leftovers } from "./Leftovers.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { MachineOutput } from "./MachineOutput.ts"
import { MirroredImagesRepo } from "./MirroredImagesRepo.ts"
import { Mirroring } from "./Mirroring.ts"
import { MissingImages } from "./MissingImages.ts"
import { Monitor } from "./Monitor.ts"
import { OutcomesRepo } from "./OutcomesRepo.ts"
import { OutputRepo } from "./OutputRepo.ts"
import { PackageScripts } from "./PackageScripts.ts"
import { Pipeline } from "./Pipeline.ts"
import { Reconciler } from "./Reconciler.ts"
import { Retention } from "./Retention.ts"
import { RetentionRepo } from "./RetentionRepo.ts"
import { Revivals } from "./Revivals.ts"
import { RoomWaits } from "./RoomWaits.ts"
import { ServerLocks } from "./ServerLocks.ts"
import { Sleep } from "./Sleep.ts"
import { SleepRepo } from "./SleepRepo.ts"
import { Stopping } from "./Stopping.ts"
import { listenForWanted } from "./wanted.ts"
import { Watch } from "./Watch.ts"

const base = Layer.mergeAll(
  DeploymentsRepo.Default,
  OutcomesRepo.Default,
  DrainsRepo.Default,
  FleetRepo.Default,
  HandshakesRepo.Default,
  HealthProbesRepo.Default,
  MirroredImagesRepo.Default,
  OutputRepo.Default,
  RetentionRepo.Default,
  SleepRepo.Default,
  JournalRepo.Default,
  RoomWaits.Default,
  ServerLocks.Default,
  Stopping.Default,
  Watch.Default
)

/** All services of deployments. Needs the database, settings, machines, images, and the services of servers. */
export const DeploymentsLive = Layer.mergeAll(
  Deployments.Default,
  HealthProbes.Default,
  Lifecycle.Default,
  Reconciler.Default,
  Retention.Default
).pipe(
  Layer.provide(Revivals.Default),
  Layer.provide([MissingImages.Default, Monitor.Default]),
  Layer.provideMerge(Sleep.Default),
  Layer.provideMerge(DeployWorkflowLive),
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(Pipeline.Default),
  Layer.provideMerge(ImageQuota.Default),
  Layer.provideMerge(Admission.Default),
  Layer.provideMerge(Handshakes.Default),
  Layer.provideMerge(Drains.Default),
  Layer.provideMerge(Leftovers.Default),
  Layer.provideMerge(Launch.Default),
  Layer.provideMerge(Mirroring.Default),
  Layer.provideMerge(PackageScripts.Default),
  Layer.provideMerge(MachineOutput.Default),
  // The same that serves the machines: layers are built once.
  Layer.provide(Refusals.Default),
  Layer.provideMerge(base)
)

/** How long the HTTP and MCP listeners wait at start for machines to become healthy. */
const patience = "15 seconds"

/** The periodic jobs of one process. At its shutdown the machines are stopped; the next process starts them again. */
export const DeploymentJobsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const jobs = yield* Jobs
  const { whileHeld } = yield* HostLease
  const reconciler = yield* Reconciler
  const probes = yield* HealthProbes
  const metering = yield* MachineMetering
  const retention = yield* Retention
  const logs = yield* ServerLogs
  const environment = yield* Environment
  const sleep = yield* Sleep
  const handshakes = yield* Handshakes
  yield* Effect.addFinalizer(() =>
    Effect.catchAllCause(reconciler.stopAll(), (cause) => Effect.logWarning("Stopping the machines failed", cause))
  )
  yield* Effect.catchAllCause(reconciler.sweep(), (cause) => Effect.logWarning("The first sweep failed", cause))
  const back = yield* reconciler.bringBack().pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("Starting the machines that served before failed", cause)),
    Effect.forkScoped
  )
  // Only the wait times out. Interrupting a start would count as a crash.
  const inTime = yield* Effect.timeoutOption(Fiber.join(back), patience)
  if (Option.isNone(inTime)) {
    yield* Effect.logWarning(`Not all machines answered within ${patience}; starting without waiting for them`)
  }
  const supervise = Effect.zipRight(Fiber.await(back), reconciler.supervise())
  // Only while this host holds the lease: without it, another host may have changed the stored state.
  yield* jobs.every("Looking after machines", "2 seconds", whileHeld(supervise))
  yield* jobs.every("Sweeping machines and pipelines", "30 seconds", whileHeld(reconciler.sweep()))
  const wanted = (serverId: string) => Effect.zipRight(sleep.wake(serverId), reconciler.lookAt(serverId))
  yield* listenForWanted((serverId) => whileHeld(wanted(serverId)))
  yield* jobs.every("Waking servers that are asked for", "2 seconds", whileHeld(sleep.wakeWanted))
  yield* jobs.every("Putting idle servers to sleep", "5 seconds", whileHeld(sleep.fallAsleep))
  // Not before the machines are back: until then it's the platform that is down.
  const probing = Effect.zipRight(Fiber.await(back), probes.run())
  yield* jobs.once("Probing servers of businesses", probes.interval, whileHeld(probing))
  yield* jobs.every("Listing changed tools", "2 seconds", whileHeld(handshakes.listChanged))
  yield* jobs.every("Metering machines", "10 seconds", whileHeld(metering.tick()))
  yield* jobs.every("Collecting images and journals", "1 hour", whileHeld(retention.collect()))
  yield* jobs.onRequest("Removing images", retention.requested, whileHeld(retention.removeImages()))
  yield* jobs.once("Trimming server logs", "10 minutes", whileHeld(Effect.zipRight(logs.trim, environment.forget)))
}))
