import { Machines } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { DatabaseTest } from "../../support/Database.ts"
import { settingsTest } from "../../support/Settings.ts"
import { services } from "./services.ts"

export * from "./account.ts"

/** Machines outlive the process that started them: a test takes its own along. */
const tidy = Layer.scopedDiscard(
  Effect.flatMap(Machines, (machines) =>
    Effect.addFinalizer(() =>
      machines.list().pipe(
        Effect.flatMap(Effect.forEach(({ name }) => machines.destroy(name), { concurrency: 8 })),
        Effect.orDie
      )
    ))
)

/** The services on a database and a home of their own. */
export const platform = (variables: Readonly<Record<string, string>> = {}) =>
  tidy.pipe(Layer.provideMerge(services(DatabaseTest, settingsTest(variables))))
