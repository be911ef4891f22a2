import { Machines } from "#src/machines/Machines.ts"
import { SandboxLive } from "#src/machines/sandbox/Sandbox.ts"
import { Effect, Layer } from "effect"
import { settingsTest } from "../../support/Settings.ts"

/** Machines outlive the process that started them: a test takes those of its home along. */
export const destroyMachines = (home: string) =>
  Effect.flatMap(
    Machines,
    (machines) => Effect.flatMap(machines.list(), Effect.forEach(({ name }) => machines.destroy(name)))
  ).pipe(
    Effect.provide(Layer.provide(SandboxLive, settingsTest({ BERTH_HOME: home }))),
    Effect.orDie
  )
