import { Machines } from "#src/machines/Machines.ts"
import { Effect, Layer, Stream } from "effect"

const unwanted = (operation: string) => () =>
  Effect.dieMessage(`${operation}: this platform runs no machines; give useBerth({ machines: true })`)

/** For platforms that nothing is deployed on: there are no machines, and whoever wants one is told loudly. */
export const NoMachines = Layer.succeed(
  Machines,
  Machines.of({
    driver: { name: "none", tier: "none" },
    guarantees: Effect.succeed({ enforces: [], lacks: [] }),
    serveAuth: () => Effect.void,
    provision: unwanted("provision"),
    start: unwanted("start"),
    stop: () => Effect.void,
    destroy: () => Effect.void,
    inspect: () => Effect.succeed(undefined),
    list: () => Effect.succeed([]),
    output: () => Stream.empty
  })
)
