import { type MachineAddress, Machines } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { withoutMachines } from "./no-machines.ts"

/** Machines that a test runs in its own process, by the ids of their deployments. */
export const fakeMachines = (addresses: ReadonlyMap<string, MachineAddress>) =>
  Layer.succeed(Machines, {
    ...withoutMachines("a test starts these machines itself"),
    inspect: (name) =>
      Effect.sync(() => {
        const address = addresses.get(name)
        return address === undefined ? undefined : { name, owner: "", status: "running", address, exitCode: null }
      })
  })
