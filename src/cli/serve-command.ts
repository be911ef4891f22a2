import { Command, Options } from "@effect/cli"
import { Context, Effect, Layer } from "effect"
import { enoughDescriptors } from "./descriptors.ts"
import { orSay } from "./fail.ts"
import { beginShutdown, limitShutdown } from "./signals.ts"

const noDemo = Options.boolean("no-demo").pipe(
  Options.withDescription("Leave out the sample restaurant that is deployed in an empty home")
)

/** `berth serve`: runs the platform until SIGINT or SIGTERM. */
export const serveCommand = Command.make("serve", { noDemo }, ({ noDemo }) =>
  Effect.scoped(Effect.gen(function*() {
    // Imported only for this command, so that client commands start without loading it.
    const { PlatformLive, UsableSettingsLive } = yield* Effect.promise(() => import("#src/Platform.ts"))
    const { announce } = yield* Effect.promise(() => import("./announce.ts"))
    const { HostLease } = yield* Effect.promise(() => import("#src/hosts/HostLease.ts"))
    const { Shutdown } = yield* Effect.promise(() => import("#src/shared/Shutdown.ts"))
    const { CurrentSettings } = yield* Effect.promise(() => import("#src/config/Settings.ts"))
    yield* enoughDescriptors
    const platform = yield* Layer.build(Layer.provideMerge(PlatformLive, UsableSettingsLive))
    const { hurry } = Context.get(platform, Shutdown)
    limitShutdown(Context.get(platform, CurrentSettings).shutdownSeconds, () => Effect.runFork(hurry))
    return yield* announce({ demo: !noDemo }).pipe(
      Effect.zipRight(Effect.never),
      Effect.onInterrupt(() => Effect.log("Stopping")),
      Effect.raceFirst(Effect.tapError(
        Context.get(platform, HostLease).lost,
        (error) =>
          Effect.zipRight(
            Effect.logError(error.message),
            Effect.sync(() => {
              // The process has failed, even if a signal arrives during the shutdown.
              process.exitCode = 1
              beginShutdown()
            })
          )
      )),
      Effect.provide(platform)
    )
  })).pipe(orSay)).pipe(
    Command.withDescription("Run the platform: database, machines, gateway, HTTP and MCP on one port")
  )
