import { type MachineAddress, MachineError, Machines, type MachineState } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { withoutMachines } from "./no-machines.ts"

/** Machines that a test runs in its own process, by the ids of their deployments. */
export const fakeMachines = (addresses: ReadonlyMap<string, MachineAddress>) =>
  Layer.suspend(() => {
    const inspect = (name: string): MachineState | undefined => {
      const address = addresses.get(name)
      return address === undefined ? undefined : { name, owner: "", status: "running", address, exitCode: null }
    }
    const missing = (machine: string) => new MachineError({ operation: "start", machine, message: "there is none" })
    return Layer.succeed(Machines, {
      ...withoutMachines("a test starts these machines itself"),
      inspect: (name) => Effect.sync(() => inspect(name)),
      // They run already.
      start: (name) =>
        Effect.suspend(() => Effect.fromNullable(inspect(name))).pipe(Effect.mapError(() => missing(name)))
    })
  })
