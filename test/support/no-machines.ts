import { Machines } from "#src/machines/Machines.ts"
import { Effect, Layer, Stream } from "effect"

/** A driver without machines: whoever wants one is told loudly, with `why`. */
export const withoutMachines = (why: string) => {
  const unwanted = (operation: string) => () => Effect.dieMessage(`${operation}: ${why}`)
  return Machines.of({
    driver: { name: "none", tier: "none" },
    guarantees: Effect.succeed({ enforces: [], lacks: [] }),
    serveAuth: () => Effect.void,
    serveEgress: () => Effect.void,
    provision: unwanted("provision"),
    start: unwanted("start"),
    stop: () => Effect.void,
    destroy: () => Effect.void,
    inspect: () => Effect.succeed(undefined),
    listening: () => Effect.succeed([]),
    list: () => Effect.succeed([]),
    runs: () => Effect.succeed([]),
    connections: () => Effect.succeed(0),
    output: () => Stream.empty
  })
}

/** For platforms that nothing is deployed on. */
export const NoMachines = Layer.succeed(
  Machines,
  withoutMachines("this platform runs no machines; give useBerth({ machines: true })")
)
