import { PlatformLive } from "#src/Platform.ts"
import { Effect, Layer, Scope } from "effect"
import { movableClock } from "../../support/movable-clock.ts"
import { settingsTest } from "../../support/Settings.ts"
import type { Given, Told } from "./killable.ts"

/** The whole platform in a process of its own, whose clock does what its parent says. */
const { variables } = JSON.parse(process.argv[2] ?? "") as Given
const { advance, clock, hurry } = movableClock()
const platform = Layer.provide(PlatformLive, [settingsTest(variables), Layer.setClock(clock)])
await Effect.runPromise(Layer.buildWithScope(platform, Effect.runSync(Scope.make())))
process.on("message", (told: Told) => {
  advance(told.advance ?? 0)
  for (const every of told.hurry ?? []) hurry(every)
})
// A platform whose parent is gone is nobody's.
process.on("disconnect", () => process.exit(1))
process.send?.("ready")
