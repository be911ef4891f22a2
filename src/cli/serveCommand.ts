import { Command, Options } from "@effect/cli"
import { Effect, Layer } from "effect"
import { SettingsLive } from "../Config.ts"
import { announce } from "./announce.ts"
import { orSay } from "./fail.ts"
import { PlatformLive } from "./serve.ts"

const noDemo = Options.boolean("no-demo").pipe(
  Options.withDescription("Do not deploy the sample restaurant when the home is empty")
)

/** `berth serve`: the platform, until it is told to stop (SIGINT, SIGTERM). */
export const serveCommand = Command.make("serve", { noDemo }, ({ noDemo }) =>
  Effect.scoped(Effect.gen(function*() {
    const platform = yield* Layer.build(Layer.provideMerge(PlatformLive, SettingsLive))
    yield* Effect.provide(announce({ demo: !noDemo }), platform)
    return yield* Effect.never
  })).pipe(orSay)).pipe(
    Command.withDescription("Run the platform: database, machines, gateway, HTTP and MCP on one port")
  )
