import { stopUnused } from "#sql/Embedded.ts"
import { CurrentSettings, SettingsLive } from "#src/config/Settings.ts"
import { Effect, Option } from "effect"

/** For the end of a process that may not have got as far as the embedded database, which a killed one may have left. */
export const stopUnusedDatabase = Effect.gen(function*() {
  const { databaseUrl, home } = yield* CurrentSettings
  if (Option.isNone(databaseUrl)) yield* stopUnused(home)
}).pipe(Effect.provide(SettingsLive), Effect.ignore)
