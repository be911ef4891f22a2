import { type MachineAddress, Machines } from "#src/machines/Machines.ts"
import { Effect, Layer, Stream } from "effect"

const unwanted = (operation: string) => () => Effect.dieMessage(`${operation}: a test starts these machines itself`)

/** Machines that a test runs in its own process, by the ids of their deployments. */
export const fakeMachines = (addresses: ReadonlyMap<string, MachineAddress>) =>
  Layer.succeed(
    Machines,
    Machines.of({
      driver: { name: "fake", tier: "none" },
      guarantees: Effect.succeed({ enforces: [], lacks: [] }),
      serveAuth: () => Effect.void,
      provision: unwanted("provision"),
      start: unwanted("start"),
      stop: () => Effect.void,
      destroy: () => Effect.void,
      inspect: (name) =>
        Effect.sync(() => {
          const address = addresses.get(name)
          return address === undefined ? undefined : { name, owner: "", status: "running", address, exitCode: null }
        }),
      list: () => Effect.succeed([]),
      output: () => Stream.empty
    })
  )
