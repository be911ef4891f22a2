import { HttpLive } from "#http/front/Server.ts"
import { SqlLive, SqlSharedLive } from "#sql/Client.ts"
import { dump } from "#sql/copy/dump.ts"
import { load } from "#sql/copy/load.ts"
import { StopTimes } from "#sql/embedded/stop-times.ts"
import { BillingJobsLive } from "#src/billing/Live.ts"
import { BlobsLive } from "#src/blobs/Live.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { UsableSettingsLive } from "#src/config/UsableSettings.ts"
import { DeploymentJobsLive } from "#src/deployments/Live.ts"
import { HostLeaseLive } from "#src/hosts/HostLease.ts"
import { type Machines } from "#src/machines/Machines.ts"
import { SandboxLive } from "#src/machines/sandbox/Sandbox.ts"
import { DatabaseCopy } from "#src/operations/backup/DatabaseCopy.ts"
import { MaintenanceLive } from "#src/operations/Maintenance.ts"
import { SecretKeys } from "#src/operations/SecretKeys.ts"
import { PublicationJobsLive } from "#src/publishing/Live.ts"
import { LoggingLive } from "#src/shared/logging.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { closesBy, shares, Shutdown } from "#src/shared/Shutdown.ts"
import { TelemetryLive } from "#src/shared/telemetry.ts"
import { Effect, Layer } from "effect"
import { ServicesLive } from "./Services.ts"

/** Preconditions of the start: only this host serves, and every stored secret can be opened. */
const AdmissionLive = Layer.effectDiscard(Effect.flatMap(SecretKeys, ({ check }) => check)).pipe(
  Layer.provide(SecretKeys.Default),
  Layer.provideMerge(HostLeaseLive),
  Layer.provide(Secrets.Default)
)

const StopTimesLive = Layer.effect(
  StopTimes,
  Effect.map(Shutdown, ({ over }) => ({ connections: over(shares.connections), server: over(shares.database) }))
)

/** The whole platform in one process, on a driver of machines: database, services, HTTP and MCP. */
export const platformOn = <E>(machines: Layer.Layer<Machines, E, CurrentSettings | Shutdown>) =>
  Layer.mergeAll(HttpLive, MaintenanceLive, PublicationJobsLive, BillingJobsLive).pipe(
    // Built before the listeners and closed after them, so that machines stop when requests have ended.
    Layer.provide(DeploymentJobsLive),
    Layer.provideMerge(ServicesLive),
    Layer.provideMerge(machines),
    Layer.provideMerge(AdmissionLive),
    closesBy(shares.services),
    Layer.provide(Layer.provide(SqlLive, StopTimesLive)),
    Layer.provideMerge(Shutdown.Default),
    Layer.provideMerge(TelemetryLive),
    Layer.provideMerge(LoggingLive)
  )

/** The platform with the machine driver of the settings. */
export const PlatformLive = platformOn(SandboxLive)

/** The database and the settings, for commands that run while the service does. */
export const SharedDatabaseLive = SqlSharedLive.pipe(
  Layer.provide(LoggingLive),
  Layer.provideMerge(UsableSettingsLive)
)

/** Dump and load of the whole database, without a migration before. */
export const DatabaseCopyLive = Layer.effect(
  DatabaseCopy,
  Effect.map(CurrentSettings, (settings) => {
    const withSettings = Effect.provideService(CurrentSettings, settings)
    return DatabaseCopy.of({ dump: withSettings(dump), load: (all) => withSettings(load(all)) })
  })
)

/** The same with the settings of the environment, for backup and restore. */
export const BackupLive = Layer.merge(DatabaseCopyLive, BlobsLive).pipe(
  Layer.provide(LoggingLive),
  Layer.provideMerge(UsableSettingsLive)
)
