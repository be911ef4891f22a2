import { Machines } from "#src/machines/Machines.ts"
import { MachineMetering } from "#src/usage/MachineMetering.ts"
import { Effect } from "effect"
import { MachineOutput } from "./MachineOutput.ts"

/** How machines are ended, so that nothing is lost of what they wrote, and of how long they ran. */
export const makeMachineEnd = Effect.gen(function*() {
  const machines = yield* Machines
  const output = yield* MachineOutput
  const { settle } = yield* MachineMetering

  /** SIGTERM with a grace period of ten seconds by default; stores what it wrote until then. */
  const stop = Effect.fn("machineEnd.stop")(function*(machine: string, graceSeconds?: number) {
    yield* machines.stop(machine, graceSeconds)
    yield* settle(machine)
    yield* output.caughtUp(machine)
  })

  const destroy = Effect.fn("machineEnd.destroy")(function*(machine: string, graceSeconds?: number) {
    yield* stop(machine, graceSeconds)
    yield* machines.destroy(machine)
    yield* output.forget(machine)
  })

  return { stop, destroy } as const
})
