import { CurrentSettings, SettingError, SettingsLive } from "#src/config/Settings.ts"
import { GatewayPlatformLive } from "#src/GatewayPlatform.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { Context, Effect, Layer } from "effect"
import cluster from "node:cluster"
import { limitShutdown } from "./signals.ts"

/** By its own address, the default, a gateway would refuse every token: they are made for the platform's. */
const addressed = Effect.gen(function*() {
  const { baseUrlExplicit, port } = yield* CurrentSettings
  if (baseUrlExplicit) return
  return yield* new SettingError({
    message:
      "BASE_URL is required with --role gateway, and must be the platform's address: the one at which its clients " +
      `reach it, such as http://localhost:8787, and not that of this gateway's own port ${port}`
  })
}).pipe(Effect.provide(SettingsLive))

/** One process of a gateway, until it is stopped. */
export const gateway = Effect.gen(function*() {
  yield* addressed
  const platform = yield* Layer.build(GatewayPlatformLive)
  const { hurry } = Context.get(platform, Shutdown)
  const { host, port, shutdownSeconds } = Context.get(platform, CurrentSettings)
  limitShutdown(shutdownSeconds, () => Effect.runFork(hurry))
  // The supervisor tells it of all processes at once.
  const announce = cluster.isPrimary ? Effect.log(`The gateway is ready on ${host} port ${port}`) : Effect.void
  return yield* Effect.provide(Effect.zipRight(announce, Effect.never), platform)
})
