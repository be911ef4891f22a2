import { GatewayHttpLive } from "#http/front/GatewayServer.ts"
import { MetricsServerLive } from "#http/front/metrics-server.ts"
import { SqlGatewayLive } from "#sql/Client.ts"
import { UsableSettingsLive } from "#src/config/UsableSettings.ts"
import { SandboxStatesLive } from "#src/machines/sandbox/SandboxStates.ts"
import { Health } from "#src/servers/Health.ts"
import { LoggingLive } from "#src/shared/logging.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { TelemetryLive } from "#src/shared/telemetry.ts"
import { Layer } from "effect"
import { GatewayServicesLive } from "./Services.ts"

/** The gateway alone, beside a process of the same home that runs the machines. */
export const GatewayPlatformLive = Layer.merge(MetricsServerLive, GatewayHttpLive).pipe(
  Layer.provide(Layer.merge(GatewayServicesLive, Health.Default)),
  Layer.provide(SandboxStatesLive),
  Layer.provide(SqlGatewayLive),
  Layer.provideMerge(Shutdown.Default),
  Layer.provideMerge(TelemetryLive),
  Layer.provideMerge(LoggingLive),
  Layer.provideMerge(UsableSettingsLive)
)
