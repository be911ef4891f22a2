import { Effect, Layer } from "effect"

/**
 * Provides a command with the database, its settings, and the services built on them. Loaded when the command runs,
 * because its help doesn't need the platform.
 */
export const onDatabase = Layer.provide(
  Layer.unwrapEffect(
    Effect.map(Effect.promise(() => import("#src/Platform.ts")), ({ SharedDatabaseLive }) => SharedDatabaseLive)
  )
)
