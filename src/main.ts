import { NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import { PlatformLive } from "./cli/serve.ts"
import { SettingsLive } from "./Config.ts"

NodeRuntime.runMain(Layer.launch(Layer.provide(PlatformLive, SettingsLive)))
