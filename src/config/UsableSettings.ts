import { Effect, Layer } from "effect"
import { usableFolder } from "./home.ts"
import { CurrentSettings, SettingsLive } from "./Settings.ts"

/** The settings of the environment, with a home that is writable. */
export const UsableSettingsLive: typeof SettingsLive = Layer.effect(
  CurrentSettings,
  Effect.tap(CurrentSettings, ({ home }) => usableFolder("BERTH_HOME", home))
).pipe(Layer.provide(SettingsLive))
