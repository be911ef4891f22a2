import { CurrentSettings } from "#src/config/Settings.ts"
import { UsableSettingsLive } from "#src/config/UsableSettings.ts"
import { HostLease } from "#src/hosts/HostLease.ts"
import { PlatformLive } from "#src/Platform.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { Context, Effect, Layer } from "effect"
import { announce } from "./announce.ts"
import { beginShutdown, limitShutdown } from "./signals.ts"

/** The process has failed, even if a signal arrives during the shutdown. */
const failed = Effect.sync(() => {
  process.exitCode = 1
  beginShutdown()
})

/** The platform in this process, until it is stopped or another host takes over. */
export const platform = Effect.fnUntraced(function*(options: { readonly demo: boolean }) {
  const services = yield* Layer.build(Layer.provideMerge(PlatformLive, UsableSettingsLive))
  const { hurry } = Context.get(services, Shutdown)
  limitShutdown(Context.get(services, CurrentSettings).shutdownSeconds, () => Effect.runFork(hurry))
  const { lost } = Context.get(services, HostLease)
  return yield* announce(options).pipe(
    Effect.zipRight(Effect.never),
    Effect.onInterrupt(() => Effect.log("Stopping")),
    Effect.raceFirst(Effect.tapError(lost, ({ message }) => Effect.zipRight(Effect.logError(message), failed))),
    Effect.provide(services)
  )
})
