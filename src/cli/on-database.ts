import { Effect, Layer } from "effect"

/**
 * Gives a command the database and the settings that it needs, and what stands on them. Loaded when the command runs: to
 * show its help takes no platform.
 */
export const onDatabase = Layer.provide(
  Layer.unwrapEffect(
    Effect.map(Effect.promise(() => import("#src/Platform.ts")), ({ SharedDatabaseLive }) => SharedDatabaseLive)
  )
)
