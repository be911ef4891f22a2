import { type CurrentSettings } from "#src/config/Settings.ts"
import { HostLeaseLive } from "#src/hosts/HostLease.ts"
import { SandboxLive } from "#src/machines/sandbox/Sandbox.ts"
import { ServicesLive } from "#src/Services.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { type SqlClient } from "@effect/sql"
import { type PgClient } from "@effect/sql-pg"
import { Layer, Logger, LogLevel } from "effect"

/** Everything below the doors on a database, with real images and machines of the sandbox. */
export const services = <E1, E2>(
  database: Layer.Layer<SqlClient.SqlClient | PgClient.PgClient, E1>,
  settings: Layer.Layer<CurrentSettings, E2>
) =>
  ServicesLive.pipe(
    Layer.provideMerge(SandboxLive),
    Layer.provideMerge(Layer.provide(HostLeaseLive, Secrets.Default)),
    Layer.provideMerge(Shutdown.Default),
    Layer.provideMerge(database),
    Layer.provideMerge(settings),
    Layer.provide(Logger.minimumLogLevel(LogLevel.Warning)),
    Layer.orDie
  )
